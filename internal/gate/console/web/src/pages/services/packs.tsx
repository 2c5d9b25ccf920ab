import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useRead } from '../../app/data';
import { can, useViewer } from '../../app/session';
import { language, t } from '../../app/text';
import { Packs } from '../../gen/documents';
import type { PacksQuery } from '../../gen/types';
import { Sign } from '../../parts/sign';
import { Badge } from '../../ui/bits';
import { Loaded, Page } from '../../ui/page';
import { NotFound } from '../../ui/states';
import { FromFile, type Opened } from './packfile';
import { PackPlan } from './packplan';
import { madeSaid, there } from './packwords';
import { installs } from './rights';

type Pack = NonNullable<PacksQuery['packs']>[number];

// PackList is the starter packs that can be installed. The address says which of them is open, or that a file is.
export default function PackList() {
  const search = useSearch({ strict: false }) as { pack?: string; file?: string };
  const navigate = useNavigate();
  const viewer = useViewer();
  const lacks = installs.find((verb) => !can(viewer, verb));
  const read = useRead(Packs, { language }, lacks !== undefined);
  const { again } = read;
  const opened = useRef(search.pack);
  useEffect(() => {
    if (search.pack !== undefined && search.pack !== opened.current) again(); // what is there may have changed since the list was read
    opened.current = search.pack;
  }, [again, search.pack]);
  const [file, setFile] = useState<Opened | null>(null);
  const above = <Link to="/app/services/packs">{t('Starter packs')}</Link>;
  const packs = read.data?.packs ?? [];
  const open = search.pack === undefined ? undefined : packs.find((p) => p.key === search.pack);
  if (open) return <PackPlan key={open.key} plan={{ ...open, items: open.makes }} from={{ pack: open.key }} above={above} />;
  if (search.file !== undefined && file) return <PackPlan key={file.name} plan={file.plan} from={{ source: file.source }} above={above} />;
  if (search.pack !== undefined) return <Page title={t('Starter pack')} verb={lacks ?? ''} above={above}><Loaded read={read}>{() => <NotFound says={t('This pack was not found')} />}</Loaded></Page>;
  const take = (of: Opened) => { setFile(of); void navigate({ to: '/app/services/packs', search: { file: of.name } as never }); };
  return (
    <Page
      title={t('Starter packs')} verb={lacks ?? ''} above={<Link to="/app/services">{t('Services')}</Link>}
      intro={t('Services that are ready to use, with their forms and workflows. Open a pack to see what it makes, then install it. You can change everything afterwards.')}
    >
      <Loaded read={read}>{() => <div className="grid">{packs.map((p) => <PackCard key={p.key} pack={p} />)}</div>}</Loaded>
      <FromFile take={take} />
    </Page>
  );
}

function PackCard({ pack: p }: { pack: Pack }) {
  const id = `pack-${p.key}`;
  return (
    <section className="card service-card" data-row={p.key} aria-labelledby={id}>
      <header><Sign name={p.name} /><div><h2 id={id}><Link className="name" dir="auto" to="/app/services/packs" search={{ pack: p.key } as never}>{p.name}</Link></h2></div></header>
      <p dir="auto">{p.description}</p>
      <p className="soft small-text grow">{madeSaid(p.makes)}</p>
      {p.makes.every(there) && <p><Badge value="active">{t('Installed')}</Badge></p>}
    </section>
  );
}
