import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { CreateOrg, DeleteOrg, Organizations, UpdateOrg } from '../../gen/documents';
import type { OrgFragment } from '../../gen/types';
import { Choices, useOrganizationChoices } from '../../parts/choices';
import { Subpages } from '../../parts/subpages';
import { Confirm, Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { More } from '../../ui/more';
import { Name, useOpened } from '../../ui/opened';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';
import { treeOf } from './tree';

// OrganizationList is the company's own structure, such as divisions.
export default function OrganizationList() {
  const read = usePages(Organizations, { first: 100 });
  const [creates, updates, removes] = [useCan('organization.create'), useCan('organization.update'), useCan('organization.delete')];
  const [gone, setGone] = useAsked<OrgFragment | null>('gone', null);
  const [remove] = useWrite(DeleteOrg);
  const list = rows(read.data?.organizations);
  const [edit, setEdit] = useOpened(list);
  return (
    <Page title={t('Organizations')} verb="organization.read" intro={t('The company’s own structure, such as divisions. Teams belong to them.')} tabs={<Subpages of="people" />} actions={creates && <button type="button" onClick={() => { setEdit('new'); }}>{t('New organization')}</button>}>
      <Loaded read={read}>
        {() => (list.length === 0 ? <Empty title={t('There are no organizations')}><p>{t('Small companies usually need none.')}</p></Empty> : (
          <><ul className="rows tree">
            {treeOf(list).map((o) => (
              <li key={o.id} className={['row', `depth${Math.min(o.depth, 5)}`].join(' ')}>
                <div><Name row={o} may={updates} /><div className="meta"><code>{o.slug}</code>{o.parent && <span>{t('part of {name}', { name: o.parent.name })}</span>}{Object.entries((o.tags ?? {}) as Record<string, string>).map(([k, v]) => <span key={k} className="chip">{k}: {v}</span>)}</div></div>
                <div className="verbs">
                  {updates && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: o.name })} onClick={() => { setEdit(o); }}>{t('Edit')}</button>}
                  {removes && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: o.name })} onClick={() => { setGone(o); }}>{t('Delete')}</button>}
                </div>
              </li>
            ))}
          </ul>
          <More shown={list.length} total={read.data?.organizations?.totalCount} page={read.data?.organizations?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {edit && <Editor org={edit === 'new' ? null : edit} close={() => { setEdit(null); }} saved={read.again} />}
      {gone && <Confirm title={t('Delete “{name}”?', { name: gone.name })} verb={t('Delete')} close={() => { setGone(null); }} act={async () => { const o = await remove({ input: { id: gone.id, ifMatch: gone.etag } }); if (!o.fault) toast({ text: t('The organization was deleted.') }); setGone(null); read.again(); }}><p>{t('An organization that has teams or other organizations in it cannot be deleted.')}</p></Confirm>}
    </Page>
  );
}

function Editor({ org: o, close, saved }: { org: OrgFragment | null; close: () => void; saved: () => void }) {
  const [draft, set, forget, base] = useDraft(`organization ${o?.id ?? 'new'}`, { name: o?.name ?? '', parentId: o?.parentId ?? '' }, o?.etag);
  const above = useOrganizationChoices().filter((x) => x.id !== o?.id);
  const [fault, setFault] = useState<Fault | null>(null);
  const [create, making] = useWrite(CreateOrg, true);
  const [update, saving] = useWrite(UpdateOrg, true);
  const send = async () => {
    const fields = { name: draft.name, parentId: draft.parentId || null };
    const done = o ? await update({ input: { id: o.id, ...base.match, ...fields } }) : await create({ input: fields });
    setFault(done.fault);
    if (done.fault) return;
    forget();
    close();
    saved();
    toast({ text: o ? t('The organization was saved.') : t('The organization was created.') });
  };
  return (
    <Dialog title={o ? t('Organization “{name}”', { name: o.name }) : t('New organization')} close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label={t('Name')} fault={faultAt(fault, 'name', 'slug')}><input dir="auto" value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label={t('Part of')} fault={faultAt(fault, 'parentId')}><select value={draft.parentId} onChange={(e) => { set({ ...draft, parentId: e.target.value }); }}><option value="">{t('None')}</option><Choices of={above} now={o?.parent ?? draft.parentId} /></select></Field>
        <Rest base={base} fault={fault} fields={['name', 'slug', 'parentId']} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={making || saving}>{o ? t('Save') : t('Create')}</button></footer>
      </form>
    </Dialog>
  );
}
