import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { uncached } from '../../app/client';
import { rows, usePages, useWrite } from '../../app/data';
import { faultOf, sentence } from '../../app/fault';
import { can, useCan, useViewer } from '../../app/session';
import { plural, t } from '../../app/text';
import { DeleteOffering, DeleteService, ServiceOne, ServiceTemplate, UpdateOffering, UpdateService } from '../../gen/documents';
import type { OfferingFullFragment, ServiceFullFragment, ServiceOneQuery, ServiceStatus } from '../../gen/types';
import { Remove } from '../../parts/remove';
import { Badge, lasting } from '../../ui/bits';
import { download } from '../../ui/csv';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty, NotFound } from '../../ui/states';
import { toast } from '../../ui/toast';
import { ServiceEditor } from './editor';
import { installs } from './rights';
import { OfferingEditor } from './offering';

// ServiceView is one service with its offerings.
export default function ServiceView() {
  const { id } = useParams({ strict: false }) as { id: string };
  const read = usePages(ServiceOne, { id, first: 50 });
  const s = read.data?.service;
  const adds = useCan('offering.create');
  const [edit, setEdit] = useAsked<OfferingFullFragment | 'new' | null>('offering', null);
  return (
    <Page
      title={s?.name ?? t('Service')} intro={s?.description} above={<Link to="/app/services">{t('Services')}</Link>}
      actions={s && <ServiceVerbs service={s} />}
    >
      <Loaded read={read}>
        {({ service }) => (!service ? <NotFound says={t('This service was not found')} /> : (
          <>
            <div className="line"><Badge value={service.status} /><span className="soft"><code>{service.slug}</code></span>{service.ownerTeam && <span className="soft" dir="auto">{service.ownerTeam.name}</span>}{service.organization && <span className="soft" dir="auto">{service.organization.name}</span>}{Object.entries(service.tags).map(([k, v]) => <span key={k} className="chip" dir="auto">{k}: {v}</span>)}</div>
            <Section title={t('Offerings')} actions={adds && <button type="button" onClick={() => { setEdit('new'); }}>{t('New offering')}</button>}>
              <Offerings service={service} edit={setEdit} next={read.next} />
            </Section>
            {edit && <OfferingEditor serviceId={service.id} offering={edit === 'new' ? null : edit} close={() => { setEdit(null); }} />}
          </>
        ))}
      </Loaded>
    </Page>
  );
}

type Service = NonNullable<ServiceOneQuery['service']>;

function Offerings({ service, edit, next }: { service: Service; edit: (o: OfferingFullFragment) => void; next: (after: string | null) => void }) {
  const viewer = useViewer();
  const [gone, setGone] = useAsked<OfferingFullFragment | null>('gone', null);
  const [remove] = useWrite(DeleteOffering, true);
  const [update] = useWrite(UpdateOffering, true);
  const list = rows(service.offerings);
  if (list.length === 0) return <Empty title={t('No offerings yet')}><p>{t('An offering is one way to ask for something: its form, its workflow, its service level.')}</p></Empty>;
  return (
    <>
      <ul className="rows">
        {list.map((o) => (
          <li key={o.id} className="row">
            <div>
              <Link className="name" dir="auto" to="/app/catalogue/$id" params={{ id: o.id }}>{o.name}</Link>
              <div className="meta"><Badge value={o.status} /><span>{plural(((o.form as { fields?: unknown[] } | null)?.fields ?? []).length, '{n} field', '{n} fields')}</span>{o.workflow && <span dir="auto">{o.workflow.name}</span>}{o.sla?.resolutionMinutes && <span>{t('Resolution within {length}', { length: lasting(o.sla.resolutionMinutes) })}</span>}</div>
            </div>
            <div className="verbs">
              {can(viewer, 'offering.update', o) && <button type="button" className="plain small" aria-label={t('Edit {name}', { name: o.name })} onClick={() => { edit(o); }}>{t('Edit')}</button>}
              {can(viewer, 'offering.delete', o) && <button type="button" className="danger-plain small" aria-label={t('Delete {name}', { name: o.name })} onClick={() => { setGone(o); }}>{t('Delete')}</button>}
            </div>
          </li>
        ))}
      </ul>
      <More shown={list.length} total={service.offerings?.totalCount} page={service.offerings?.pageInfo} next={next} />
      {gone && (
        <Remove
          title={t('Delete “{name}”?', { name: gone.name })} close={() => { setGone(null); }}
          act={async () => {
            const { fault } = await remove({ input: { id: gone.id } });
            if (fault) return fault;
            toast({ text: t('The offering was deleted.') });
            setGone(null);
            return null;
          }}
          instead={gone.status === 'active' && can(viewer, 'offering.update', gone) ? {
            verb: t('Make inactive'), act: async () => {
              const { fault } = await update({ input: { id: gone.id, status: 'inactive', ifMatch: gone.etag } });
              if (fault) return fault;
              toast({ text: t('The offering is inactive.') });
              setGone(null);
              return null;
            },
          } : null}
        >
          <p>{t('An offering that has requests cannot be deleted; make it inactive instead.')}</p>
        </Remove>
      )}
    </>
  );
}

// template gives the person a file with the service, its offerings and what they need, which can be installed as a pack elsewhere.
async function template(s: ServiceFullFragment): Promise<void> {
  const r = await uncached.query(ServiceTemplate, { id: s.id }).toPromise();
  const fault = faultOf(r.error);
  if (fault) toast({ text: sentence(fault), bad: true });
  else download(`${s.slug}.yaml`, r.data?.serviceTemplate ?? '', 'application/yaml;charset=utf-8');
}

function ServiceVerbs({ service: s }: { service: ServiceFullFragment }) {
  const viewer = useViewer();
  const [update] = useWrite(UpdateService);
  const [remove] = useWrite(DeleteService, true);
  const [asking, setAsking] = useAsked<'edit' | 'delete' | ''>('verb', '');
  const navigate = useNavigate();
  const to: ServiceStatus = s.status === 'active' ? 'archived' : 'active';
  const turn = async (status: ServiceStatus) => {
    const o = await update({ input: { id: s.id, status, ifMatch: s.etag } });
    if (!o.data) return o.fault;
    const { etag } = o.data.updateService.service;
    toast({ text: status === 'active' ? t('The service is active.') : t('The service is archived.'), undo: () => { void update({ input: { id: s.id, status: s.status, ifMatch: etag } }); } });
    setAsking('');
    return null;
  };
  return (
    <>
      {can(viewer, 'service.update', s) && <button type="button" className="plain" onClick={() => { setAsking('edit'); }}>{t('Edit')}</button>}
      {can(viewer, 'service.update', s) && <button type="button" className="plain" onClick={() => { void turn(to); }}>{to === 'active' ? t('Activate') : t('Archive')}</button>}
      {installs.every((verb) => can(viewer, verb)) && <button type="button" className="plain" onClick={() => { void template(s); }}>{t('Save as template')}</button>}
      {can(viewer, 'service.delete', s) && <button type="button" className="danger-plain" onClick={() => { setAsking('delete'); }}>{t('Delete')}</button>}
      {asking === 'edit' && <ServiceEditor service={s} close={() => { setAsking(''); }} />}
      {asking === 'delete' && (
        <Remove
          title={t('Delete “{name}”?', { name: s.name })} close={() => { setAsking(''); }}
          act={async () => {
            const { fault } = await remove({ input: { id: s.id, ifMatch: s.etag } });
            if (fault) return fault;
            setAsking('');
            toast({ text: t('“{name}” was deleted.', { name: s.name }) });
            void navigate({ to: '/app/services' });
            return null;
          }}
          instead={s.status !== 'archived' && can(viewer, 'service.update', s) ? { verb: t('Archive'), act: () => turn('archived') } : null}
        >
          <p>{t('Its offerings go with it. A service that has requests cannot be deleted; archive it instead.')}</p>
        </Remove>
      )}
    </>
  );
}
