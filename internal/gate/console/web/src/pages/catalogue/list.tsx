import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient } from 'urql';
import { rows, usePages } from '../../app/data';
import { useCan } from '../../app/session';
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
    <Page title="Catalogue" intro="What you can ask for." actions={<input type="search" aria-label="Find in the catalogue" placeholder="Find…" value={q} onChange={(e) => { setQ(e.target.value); }} />}>
      <Loaded read={read}>
        {(data) => {
          const services = rows(data.services)
            .map((s) => ({ ...s, offers: rows(s.offerings).filter((o) => hit(s.name) || hit(o.name) || hit(o.description)) }))
            .filter((s) => s.offers.length > 0);
          const foot = page?.hasNextPage && <More shown={rows(data.services).length} total={data.services?.totalCount} page={page} next={read.next} />;
          const partly = page?.hasNextPage || rows(data.services).some((s) => s.offerings?.pageInfo.hasNextPage);
          if (services.length === 0 && q) return <>{partly ? <Empty title="Nothing matches so far"><p>The rest of the catalogue is still being read.</p></Empty> : <Empty title="Nothing matches"><p>Try another word.</p></Empty>}{foot}</>;
          if (services.length === 0) {
            return (
              <><Empty title={foot ? 'Nothing is offered by these services' : 'Nothing is offered yet'}>
                {foot ? null : admin ? <p><Link to="/app/services" className="button">Create a service</Link></p> : <p>An admin of your company makes services and their offerings.</p>}
              </Empty>{foot}</>
            );
          }
          const more = (id: string, after: string | null | undefined) => { void client.query(MoreOfferings, { id, ...(after ? { after } : {}) }).toPromise(); };
          return (
            <><div className="grid">
              {services.map((s) => (
                <section key={s.id} className="card service-card" aria-labelledby={`s-${s.id}`}>
                  <div><h2 id={`s-${s.id}`}>{s.name}</h2>{s.description && <p>{s.description}</p>}</div>
                  <ul className="offers">
                    {s.offers.map((o) => (
                      <li key={o.id}><Link to="/app/catalogue/$id" params={{ id: o.id }}>{o.name}{o.description && <span className="sub">{o.description}</span>}</Link></li>
                    ))}
                  </ul>
                  {s.offerings?.pageInfo.hasNextPage && <p><button type="button" className="quiet small" onClick={() => { more(s.id, s.offerings?.pageInfo.endCursor); }}>Show more<span className="hidden"> of {s.name}</span></button></p>}
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
