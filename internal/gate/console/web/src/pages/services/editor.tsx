import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { t } from '../../app/text';
import { CreateService, UpdateService } from '../../gen/documents';
import type { ServiceFullFragment } from '../../gen/types';
import { Choices, useOrganizationChoices, useTeamChoices } from '../../parts/choices';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, below, faultAt, faultBelow } from '../../ui/field';
import { tagsOf, textOf } from '../../ui/tags';
import { toast } from '../../ui/toast';

// ServiceEditor says what a service is called, who answers for it, and where it belongs.
export function ServiceEditor({ service: s, close }: { service: ServiceFullFragment | null; close: () => void }) {
  const [draft, set, forget, base] = useDraft(`service ${s?.id ?? 'new'}`, { name: s?.name ?? '', description: s?.description ?? '', ownerTeamId: s?.ownerTeamId ?? '', organizationId: s?.organizationId ?? '', tags: textOf(s?.tags ?? {}) }, s?.etag);
  const [fault, setFault] = useState<Fault | null>(null);
  const [teams, organizations] = [useTeamChoices(), useOrganizationChoices()];
  const [create, making] = useWrite(CreateService, true);
  const [update, saving] = useWrite(UpdateService, true);
  const navigate = useNavigate();
  const send = async () => {
    const input = { name: draft.name, description: draft.description || null, ownerTeamId: draft.ownerTeamId || null, organizationId: draft.organizationId || null, ...(s && draft.tags === textOf(s.tags) ? {} : { tags: tagsOf(draft.tags, s?.tags ?? {}) }) };
    const o = s ? await update({ input: { id: s.id, ...base.match, ...input } }) : await create({ input });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    close();
    if ('createService' in o.data) void navigate({ to: '/app/services/$id', params: { id: o.data.createService.service.id } });
    else toast({ text: t('The service was saved.') });
  };
  return (
    <Dialog title={s ? t('Service “{name}”', { name: s.name }) : t('New service')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name', 'slug')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Description')} optional fault={faultAt(fault, 'description')}><textarea dir="auto" value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <Field label={t('Team')} hint={t('It is responsible for the service.')} fault={faultAt(fault, 'ownerTeamId')}><select value={draft.ownerTeamId} onChange={(e) => { set({ ...draft, ownerTeamId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={teams} now={s?.ownerTeam} /></select></Field>
        {(organizations.length > 0 || draft.organizationId) && <Field label={t('Organization')} fault={faultAt(fault, 'organizationId')}><select value={draft.organizationId} onChange={(e) => { set({ ...draft, organizationId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={organizations} now={s?.organization} /></select></Field>}
        <Field label={t('Tags')} optional hint={t('For filters and access policies. One per line, such as env=production.')} fault={faultBelow(fault, 'tags')}><textarea rows={2} value={draft.tags} placeholder={'env=production'} onChange={(e) => { set({ ...draft, tags: e.target.value }); }} /></Field>
        <Rest base={base} fault={fault} fields={['name', 'slug', 'description', 'ownerTeamId', 'organizationId', ...below(fault, 'tags')]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{s ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
