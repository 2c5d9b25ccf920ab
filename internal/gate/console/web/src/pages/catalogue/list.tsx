import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient } from 'urql';
import { rows, usePages } from '../../app/data';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { Catalogue, MoreOfferings } from '../../gen/documents';
import { useOfferingChoices } from '../../parts/choices';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// CatalogueList is what one can ask for.
export default function CatalogueList() {
  const read = usePages(Catalogue, {});
  const client = useClient();
  const page = read.data?.services?.pageInfo;
  const admin = useCan('service.create');
  const [q, setQ] = useState('');
  useOfferingChoices(!q.trim()); // what is searched is read whole, and the cache joins it to what is shown
  const hit = (text: string | null | undefined) => text?.toLowerCase().includes(q.toLowerCase().trim());
  return (
    <Page title={t('Catalogue')} intro={t('What you can ask for.')} actions={<input type="search" dir="auto" aria-label={t('Find in the catalogue')} placeholder={t('Find…')} value={q} onChange={(e) => { setQ(e.target.value); }} />}>
      <Loaded read={read}>
        {(data) => {
          const services = rows(data.services)
            .map((s) => ({ ...s, offers: rows(s.offerings).filter((o) => hit(s.name) || hit(o.name) || hit(o.description)) }))
            .filter((s) => s.offers.length > 0);
          const foot = page?.hasNextPage && <More shown={rows(data.services).length} total={data.services?.totalCount} page={page} next={read.next} />;
          const partly = page?.hasNextPage || rows(data.services).some((s) => s.offerings?.pageInfo.hasNextPage);
          if (services.length === 0 && q) return <>{partly ? <Empty title={t('Nothing matches so far')}><p>{t('The rest of the catalogue is still being read.')}</p></Empty> : <Empty title={t('Nothing matches')}><p>{t('Try another word.')}</p></Empty>}{foot}</>;
          if (services.length === 0) {
            return (
              <><Empty title={foot ? t('Nothing is offered by these services') : t('Nothing is offered yet')}>
                {foot ? null : admin ? <p><Link to="/app/services" className="button">{t('Create a service')}</Link></p> : <p>{t('An admin of your company creates services and their offerings.')}</p>}
              </Empty>{foot}</>
            );
          }
          const more = (id: string, after: string | null | undefined) => { void client.query(MoreOfferings, { id, ...(after ? { after } : {}) }).toPromise(); };
          return (
            <><div className="grid">
              {services.map((s) => (
                <section key={s.id} className="card service-card" aria-labelledby={`s-${s.id}`}>
                  <div><h2 id={`s-${s.id}`} dir="auto">{s.name}</h2>{s.description && <p dir="auto">{s.description}</p>}</div>
                  <ul className="offers">
                    {s.offers.map((o) => (
                      <li key={o.id}><Link to="/app/catalogue/$id" params={{ id: o.id }} dir="auto">{o.name}{o.description && <span className="sub" dir="auto">{o.description}</span>}</Link></li>
                    ))}
                  </ul>
                  {s.offerings?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" aria-label={t('Show more of {name}', { name: s.name })} onClick={() => { more(s.id, s.offerings?.pageInfo.endCursor); }}>{t('Show more')}</button></p>}
                </section>
              ))}
            </div>
            {foot}</>
          );
        }}
      </Loaded>
    </Page>
  );
}
