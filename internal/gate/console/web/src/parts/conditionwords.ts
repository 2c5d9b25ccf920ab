// conditionwords are the names of what conditions compare, and of how. The questions of offerings have names of their own.
import { t } from '../app/text';
import { slaWord, words } from '../ui/bits';
import type { ConditionField, Op } from './conditions';

export const opWords: Record<Op, string> = {
  is: t('condition|is'), isNot: t('is not'), contains: t('contains'), notContains: t('does not contain'), starts: t('starts with'), oneOf: t('is one of'), noneOf: t('is none of'),
  more: t('is more than'), less: t('is less than'), atLeast: t('is at least'), atMost: t('is at most'), before: t('is before'), after: t('is after'), empty: t('is empty'), notEmpty: t('is not empty'),
};

const labels: Record<string, string> = {
  'request.title': t('Title'), 'request.description': t('Description'), 'request.priority': t('Priority'), 'request.serviceId': t('Service'), 'request.offeringId': t('Offering'),
  'request.requesterId': t('Requester'), 'request.createdBy': t('Submitted by'), 'request.teamId': t('Team'), 'request.assigneeId': t('Assignee'), 'request.status': t('Status'),
  'request.waiting': t('Waiting for the requester'), 'request.number': t('Number'), 'request.createdAt': t('Submitted at'), 'request.firstResponseAt': t('First response at'), 'request.acceptedAt': t('Accepted at'), 'request.reopenCount': t('Times reopened'),
  'request.satisfaction': t('Satisfaction'), 'request.sla.state': t('Service level'), 'request.sla.responseDueAt': t('Response due'), 'request.sla.resolutionDueAt': t('Resolution due'),
  'webhook.method': t('Method'), 'webhook.receivedAt': t('Received at'),
};
const results: Record<string, string> = { outcome: t('Outcome'), valid: t('Valid'), status: t('Status') };
const groups: Record<string, string> = { Request: t('Request'), Webhook: t('Webhook'), Headers: t('Headers'), Body: t('Body'), 'Several offerings': t('Several offerings') }; // not said

// named gives a field its names in the language of the page.
export function named(f: ConditionField): ConditionField {
  const [, result = ''] = /^phases\.\w+\.(\w+)$/.exec(f.expression) ?? [];
  const ours = f.expression.startsWith('request.') && !f.expression.startsWith('request.fields');
  const tag = f.expression.startsWith('request.tags') ? t('Tag {name}', { name: f.label.replace(/^Tag /, '') }) : undefined; // not said
  const label = labels[f.expression] ?? tag ?? (results[result]?.length && f.label.toLowerCase() === result ? results[result] : undefined) ?? f.label;
  return { ...f, label, group: groups[f.group] ?? f.group, values: ours ? f.values.map((v) => ({ ...v, label: f.expression === 'request.sla.state' ? slaWord(v.value) : words(v.value) })) : f.values };
}
