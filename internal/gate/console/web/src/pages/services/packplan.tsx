// packplan is one pack: what it makes, what of that is there already, and the one button that installs it.
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { language, placed, t } from '../../app/text';
import { InstallPack } from '../../gen/documents';
import { Badge } from '../../ui/bits';
import { focusSoon } from '../../ui/focus';
import { Page, Section } from '../../ui/page';
import { toast } from '../../ui/toast';
import { PackFaults } from './packfile';
import { grouped, madeSaid, opens, placeOf, standsSaid, there, type Item, type Plan } from './packwords';

// Props are those of a pack: the key of one that is shipped, or the text of a file.
interface Props { plan: Plan; from: { pack: string } | { source: string }; above: ReactNode }

const next = () => globalThis.document.querySelector<HTMLElement>('.page-head .actions a'); // not said

export function PackPlan({ plan, from, above }: Props) {
  const [done, setDone] = useState<readonly Item[] | null>(null); // what is there since it was installed here
  const [empty, setEmpty] = useState(false); // it made teams, which begin without members
  const [fault, setFault] = useState<Fault | null>(null);
  const [install, busy] = useWrite(InstallPack, true);
  const items = plan.items.every(there) ? plan.items : done ?? plan.items;
  const first = opens(items);
  const all = items.every(there);
  const send = async () => {
    const o = await install({ input: { ...from, language } });
    setFault(o.fault);
    if (!o.data) return;
    const made = o.data.installPack.plan.items.map((i) => ({ ...i, action: 'keep' }));
    const opened = opens(made);
    setDone(made);
    setEmpty(plan.items.some((i) => i.kind === 'Team' && !there(i))); // not said
    toast({ text: t('“{name}” is installed.', { name: plan.name }), ...(opened ? { link: { to: opened.to, says: t('Open “{name}”', { name: opened.name }) } } : {}) });
    focusSoon(next);
  };
  const actions = all
    ? first && <Link className="button" to={first.to}>{t('Open “{name}”', { name: first.name })}</Link>
    : <button type="button" disabled={busy} onClick={() => { void send(); }}>{t('Install')}</button>;
  return (
    <Page title={plan.name} intro={plan.description} above={above} actions={actions}>
      {fault && <PackFaults fault={fault} says={t('Nothing was installed.')} />}
      <p><strong>{madeSaid(items)}</strong></p>
      <p className="soft" role="status">{standsSaid(items)}</p>
      {empty && <p className="notice">{placed(t('The new teams have no members yet. Add people to them in {place}, or tasks and approvals go to nobody.'), { place: <Link to="/app/people">{t('People')}</Link> })}</p>}
      {grouped(items).map((g) => (
        <Section key={g.kind} title={g.many}>
          <ul className="rows" aria-label={g.many}>
            {g.items.map((i) => <li key={i.key} className="row"><PackItem of={i} />{!all && <Badge value={there(i) ? 'off' : 'active'}>{there(i) ? t('Exists already') : t('pack|New')}</Badge>}</li>)}
          </ul>
        </Section>
      ))}
    </Page>
  );
}

function PackItem({ of: i }: { of: Item }) {
  const place = placeOf(i);
  return place ? <Link className="name" dir="auto" {...place as { to: string }}>{i.name}</Link> : <strong dir="auto">{i.name}</strong>;
}
