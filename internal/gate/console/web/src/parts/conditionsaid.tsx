// conditionsaid is a condition in words, for lists.
import { useMemo } from 'react';
import { useRead } from '../app/data';
import { t } from '../app/text';
import { ConditionFields } from '../gen/documents';
import type { ConditionPlace } from '../gen/types';
import { momentSaid } from '../ui/bits';
import { useOfferingChoices, usePersonChoices, useServiceChoices, useTeamChoices } from './choices';
import { isGroup, rowsOf, takes, type ConditionField, type Group, type Row } from './conditions';
import { named, opWords } from './conditionwords';

interface Said { fields: ConditionField[]; names: Map<string, string> }

function valueOf(f: ConditionField, v: string, names: Map<string, string>): string {
  if (f.type === 'BOOLEAN') return v === 'true' ? t('Yes') : t('No');
  if (f.type === 'TIME' || f.type === 'DATETIME') return momentSaid(v);
  return f.values.find((x) => x.value === v)?.label ?? names.get(v) ?? (f.type === 'TEXT' ? t('“{text}”', { text: v }) : v);
}

function rowSaid(r: Row, { fields, names }: Said): string {
  const f = fields.find((x) => x.expression === r.what);
  if (!f) return r.what;
  return [f.label, opWords[r.op], takes(r.op) === 0 ? '' : r.values.map((v) => valueOf(f, v, names)).join(', ')].filter(Boolean).join(' ');
}

const groupSaid = (g: Group, s: Said, within = false): string => {
  const all = g.parts.map((p) => (isGroup(p) ? groupSaid(p, s, true) : rowSaid(p, s)));
  const text = all.reduce((first, second) => (g.join === 'all' ? t('{first} and {second}', { first, second }) : t('{first} or {second}', { first, second })));
  return within ? `(${text})` : text;
};

// At is a phase of a workflow as it is being written.
interface At { id: string; phaseId: string; definition: unknown }

// useConditionWords returns what says a condition of a place in words; null for one that is text.
export function useConditionWords(scope: ConditionPlace, at?: At): (cel: string) => string | null {
  const read = useRead(ConditionFields, { for: scope, ...at });
  const [people, teams, services, offerings] = [usePersonChoices(), useTeamChoices(), useServiceChoices(), useOfferingChoices()];
  return useMemo(() => {
    const fields = (read.data?.conditionFields ?? []).map(named);
    const all = [...people, ...teams, ...services, ...offerings.flatMap((s) => (s.offerings?.edges ?? []).map(({ node }) => node))];
    const names = new Map(all.map((x) => [x.id, x.name]));
    return (cel) => {
      const g = fields.length > 0 ? rowsOf(cel, fields) : null;
      return g && g.parts.length > 0 ? groupSaid(g, { fields, names }) : null;
    };
  }, [read.data, people, teams, services, offerings]);
}
