import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { rows, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { CreateService, Services } from '../../gen/documents';
import { Badge, Time } from '../../ui/bits';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Field, Rest, faultAt } from '../../ui/field';
import { Loaded, Page } from '../../ui/page';
import { Empty } from '../../ui/states';

// ServiceList is what the company offers.
export default function ServiceList() {
  const read = useRead(Services, { first: 100 });
  const admin = useCan('service.create');
  const [making, setMaking] = useState(false);
  return (
    <Page title="Services" intro="What the company offers. Each service has offerings, and each offering a form." actions={admin && <button type="button" onClick={() => { setMaking(true); }}>New service</button>}>
      <Loaded read={read}>
        {({ services }) => (rows(services).length === 0 ? <Empty title="There are no services yet"><p>A service groups what people can ask one team for.</p></Empty> : (
          <div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">Name</th><th scope="col">Status</th><th scope="col">Offerings</th><th scope="col">Team</th><th scope="col">Changed</th></tr></thead>
              <tbody>
                {rows(services).map((s) => (
                  <tr key={s.id}>
                    <td><Link className="name" to="/app/services/$id" params={{ id: s.id }}>{s.name}</Link>{s.description && <span className="sub">{s.description}</span>}</td>
                    <td className="tight"><Badge value={s.status} /></td><td className="tight" data-label="Offerings">{s.offerings?.totalCount ?? 0}</td><td className="tight" data-label="Team">{s.ownerTeam?.name ?? <span className="soft">–</span>}</td><td className="tight"><Time at={s.updatedAt} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ))}
      </Loaded>
      {making && <Make close={() => { setMaking(false); }} />}
    </Page>
  );
}

function Make({ close }: { close: () => void }) {
  const [draft, set, forget] = useDraft('service', { name: '', description: '' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(CreateService, true);
  const navigate = useNavigate();
  const send = async () => {
    const o = await run({ input: { name: draft.name, ...(draft.description ? { description: draft.description } : {}) } });
    setFault(o.fault);
    if (!o.data) return;
    forget();
    void navigate({ to: '/app/services/$id', params: { id: o.data.createService.service.id } });
  };
  return (
    <Dialog title="New service" close={close}>
      <form className="stack" noValidate onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Field label="Name" fault={faultAt(fault, 'name', 'slug')}><input autoFocus value={draft.name} onChange={(e) => { set({ ...draft, name: e.target.value }); }} /></Field>
        <Field label="Description" optional fault={faultAt(fault, 'description')}><textarea value={draft.description} onChange={(e) => { set({ ...draft, description: e.target.value }); }} /></Field>
        <Rest fault={fault} fields={['name', 'slug', 'description']} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy}>Create</button></footer>
      </form>
    </Dialog>
  );
}
