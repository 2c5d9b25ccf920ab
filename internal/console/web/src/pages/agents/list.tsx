import { rows, useRead } from '../../app/data';
import { Agents } from '../../gen/documents';
import { Time, words } from '../../ui/bits';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// AgentList is which automated participants the company has.
export default function AgentList() {
  const read = useRead(Agents, {});
  return (
    <Page title="Agents" role="admin" intro="Automated participants: what they work and how far they go by themselves.">
      <Loaded read={read}>
        {({ agents }) => (rows(agents).length === 0 ? <Empty title="There are no agents"><p>Agents are made through the API.</p></Empty> : (
          <div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">Name</th><th scope="col">Works</th><th scope="col">Run by</th><th scope="col">Autonomy</th><th scope="col">Changed</th></tr></thead>
              <tbody>
                {rows(agents).map((a) => (
                  <tr key={a.id}><td>{a.name}</td><td>{words(a.type)}</td><td>{words(a.source)}</td><td>{words(a.autonomy)}</td><td className="tight"><Time at={a.updatedAt} /></td></tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
      </Loaded>
    </Page>
  );
}
