import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, useRead, type Read } from '../../app/data';
import { t } from '../../app/text';
import { Catalogue } from '../../gen/documents';
import type { HomeQuery } from '../../gen/types';
import { useOfferingChoices } from '../../parts/choices';
import { byName, ServiceCard } from '../../parts/servicecard';
import { Loaded, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { useAsks } from './asks';
import { Finder } from './finder';
import { Row } from './row';

const services = 6; // the catalogue has the others
const offers = 4;

// MemberHome is the portal of those who ask for things: what they need is found by a word, what is asked of them comes first, and what
// they have asked for says how it stands.
export function MemberHome({ read }: { read: Read<HomeQuery> }) {
  const first = useRead(Catalogue, {});
  const catalogue = useOfferingChoices();
  const { list: asked, dialog } = useAsks(read.data);
  const [q, setQ] = useState('');
  return (
    <>
      <Finder q={q} set={setQ} catalogue={catalogue} />
      {q.trim() === '' && (
        <Loaded read={read}>
          {(d) => {
            const own = rows(d.mine);
            const asks = [...own.filter((r) => r.waiting).map((r) => <Row key={r.id} request={r} of="requester" />), ...asked];
            const others = own.filter((r) => !r.waiting).slice(0, 8);
            const cards = catalogue.filter((s) => rows(s.offerings).length > 0);
            return (
              <>
                {asks.length > 0 && <Section title={t('Waiting for you')}><ul className="rows asked" aria-label={t('Waiting for you')}>{asks}</ul></Section>}
                <Section title={t('What you can ask for')} actions={<Link to="/app/catalogue">{t('The whole catalogue')}</Link>}>
                  <Loaded read={first}>{() => (cards.length === 0 ? <p className="nothing">{t('No offerings yet')}</p> : (
                    <div className="grid brief">
                      {cards.slice(0, services).map((s) => (
                        <ServiceCard key={s.id} service={s} offers={byName(rows(s.offerings)).slice(0, offers)} level={3} brief>
                          {rows(s.offerings).length > offers && <p><Link className="more" to="/app/catalogue" search={{ q: s.name } as never} aria-label={t('Show all of {name}', { name: s.name })}>{t('Show all')}</Link></p>}
                        </ServiceCard>
                      ))}
                    </div>
                  ))}</Loaded>
                </Section>
                <Section title={t('Your open requests')} actions={<Link to="/app/my-requests">{t('All your requests')}</Link>}>
                  {others.length === 0
                    ? own.length > 0 ? <p className="nothing">{t('All of them are waiting for you.')}</p> : <Empty title={t('You have no open requests')}><p><Link to="/app/catalogue" className="button">{t('Open the catalogue')}</Link></p></Empty>
                    : <ul className="rows" aria-label={t('Your open requests')}>{others.map((r) => <Row key={r.id} request={r} of="requester" />)}</ul>}
                </Section>
              </>
            );
          }}
        </Loaded>
      )}
      {dialog}
    </>
  );
}
