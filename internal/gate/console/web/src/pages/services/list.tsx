import { Link } from '@tanstack/react-router';
import { useAsked } from '../../app/asked';
import { rows, usePages } from '../../app/data';
import { can, useCan, useViewer } from '../../app/session';
import { t } from '../../app/text';
import { Services } from '../../gen/documents';
import { Badge, Time } from '../../ui/bits';
import { More } from '../../ui/more';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';
import { ServiceEditor } from './editor';
import { installs } from './rights';

// ServiceList is what the company offers.
export default function ServiceList() {
  const read = usePages(Services, { first: 50 });
  const admin = useCan('service.create');
  const viewer = useViewer();
  const packs = installs.every((verb) => can(viewer, verb));
  const [making, setMaking] = useAsked('new', false);
  return (
    <Page title={t('Services')} intro={t('What the company offers. Each service has offerings, and each offering a form.')} actions={admin && <>{packs && <Link className="button plain" to="/app/services/packs">{t('Start from a pack')}</Link>}<button type="button" onClick={() => { setMaking(true); }}>{t('New service')}</button></>}>
      <Loaded read={read}>
        {({ services }) => (rows(services).length === 0 ? <Empty title={t('There are no services yet')}><p>{t('A service groups what people can ask one team for.')}</p>{packs && <p><Link className="button" to="/app/services/packs">{t('Start from a pack')}</Link></p>}</Empty> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Name')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Offerings')}</th><th scope="col">{t('Team')}</th><th scope="col">{t('Changed')}</th></tr></thead>
              <tbody>
                {rows(services).map((s) => (
                  <tr key={s.id}>
                    <td><Link className="name" dir="auto" to="/app/services/$id" params={{ id: s.id }}>{s.name}</Link>{s.description && <span className="sub" dir="auto">{s.description}</span>}</td>
                    <td className="tight"><Badge value={s.status} /></td><td className="tight" data-label={t('Offerings')}>{s.offerings?.totalCount ?? 0}</td><td className="tight" data-label={t('Team')}>{s.ownerTeam?.name ?? <span className="soft">–</span>}</td><td className="tight"><Time at={s.updatedAt} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <More shown={rows(services).length} total={services?.totalCount} page={services?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
      {making && <ServiceEditor service={null} close={() => { setMaking(false); }} />}
    </Page>
  );
}
