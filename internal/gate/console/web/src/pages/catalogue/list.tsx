import { Link, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { rows, usePages } from '../../app/data';
import { finds } from '../../app/fold';
import { useCan } from '../../app/session';
import { t } from '../../app/text';
import { Catalogue, MoreOfferings } from '../../gen/documents';
import { useKeys } from '../../keys/registry';
import { useOfferingChoices } from '../../parts/choices';
import { byName, categoryOf, ServiceCard } from '../../parts/servicecard';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';

// CatalogueList is what one can ask for.
export default function CatalogueList() {
  const { q: asked = '' } = useSearch({ strict: false }) as { q?: string };
  const read = usePages(Catalogue, {});
  const client = useClient();
  const page = read.data?.services?.pageInfo;
  const admin = useCan('service.create');
  const [q, setQ] = useState(asked);
  const box = useRef<HTMLInputElement>(null);
  useKeys([{ name: 'find', keys: '/', does: t('Find in the catalogue'), run: () => { box.current?.focus(); } }]);
  useOfferingChoices(!q.trim()); // what is searched is read whole, and the cache joins it to what is shown
  return (
    <Page title={t('Catalogue')} intro={t('What you can ask for.')}>
      <search className="finder"><input ref={box} type="search" dir="auto" aria-label={t('Find in the catalogue')} placeholder={t('Find in the catalogue')} value={q} onChange={(e) => { setQ(e.target.value); }} /></search>
      <Loaded read={read}>
        {(data) => {
          const services = rows(data.services)
            .map((s) => ({ ...s, category: categoryOf(s), offers: rows(s.offerings).filter((o) => finds([s.name, s.description, categoryOf(s), o.name, o.description].join(' '), q.trim())) }))
            .filter((s) => s.offers.length > 0);
          const foot = page?.hasNextPage && <More shown={rows(data.services).length} total={data.services?.totalCount} page={page} next={read.next} />;
          const partly = page?.hasNextPage || rows(data.services).some((s) => s.offerings?.pageInfo.hasNextPage);
          if (services.length === 0 && q) return <>{partly ? <Empty title={t('Nothing matches so far')}><p>{t('The rest of the catalogue is still being read.')}</p></Empty> : <Empty title={t('Nothing matches')}><p>{t('Try another word.')}</p><p><button type="button" className="plain" onClick={() => { setQ(''); }}>{t('Show the whole catalogue')}</button></p></Empty>}{foot}</>;
          if (services.length === 0) {
            return (
              <><Empty title={foot ? t('These services have no offerings') : t('No offerings yet')}>
                {foot ? null : admin ? <p><Link to="/app/services" className="button">{t('Create a service')}</Link></p> : <p>{t('An admin of your company creates services and their offerings.')}</p>}
              </Empty>{foot}</>
            );
          }
          const more = (id: string, after: string | null | undefined) => { void client.query(MoreOfferings, { id, ...(after ? { after } : {}) }).toPromise(); };
          const cards = (list: typeof services, level: 2 | 3) => (
            <div className="grid">
              {list.map((s) => (
                <ServiceCard key={s.id} service={s} offers={byName(s.offers)} level={level}>
                  {s.offerings?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" aria-label={t('Show more of {name}', { name: s.name })} onClick={() => { more(s.id, s.offerings?.pageInfo.endCursor); }}>{t('Show more')}</button></p>}
                </ServiceCard>
              ))}
            </div>
          );
          const categories = [...new Set(services.map((s) => s.category))].sort((a, b) => (a === '' ? 1 : b === '' ? -1 : a.localeCompare(b)));
          return <>{categories.length < 2 ? cards(services, 2) : categories.map((c) => <Section key={c} title={c || t('Other')}>{cards(services.filter((s) => s.category === c), 3)}</Section>)}{foot}</>;
        }}
      </Loaded>
    </Page>
  );
}
