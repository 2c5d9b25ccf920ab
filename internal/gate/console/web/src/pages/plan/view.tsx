import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { CancelSubscription, ChangePlan, Invoices, PlanOf, PlanPreview } from '../../gen/documents';
import * as enums from '../../gen/enums';
import type { Plan } from '../../gen/types';
import { Subpages } from '../../parts/subpages';
import { Badge, date, money, words } from '../../ui/bits';
import { Confirm, Dialog } from '../../ui/dialog';
import { Field, Rest } from '../../ui/field';
import { More } from '../../ui/more';
import { Loaded, Page, Section } from '../../ui/page';
import { Empty } from '../../ui/states';
import { toast } from '../../ui/toast';

const plans = enums.Plan.filter((p) => p !== 'enterprise'); // agreed on with the operator
const limitWord: Record<string, string> = { callsPerMinute: 'Calls a minute', callsPerDay: 'Calls a day', megabytesPerMinute: 'Megabytes a minute', megabytesPerDay: 'Megabytes a day', queryCost: 'Cost of a query', invitationsPerDay: 'Invitations a day' };
const number = new Intl.NumberFormat();

// PlanView is what the company has subscribed to, what another plan would come to, and what was asked for.
export default function PlanView() {
  const read = useRead(PlanOf, {});
  const may = useCan('billing.change');
  const [asking, setAsking] = useAsked<Plan | 'cancel' | null>('plan', null);
  const [cancel] = useWrite(CancelSubscription);
  const company = read.data?.viewer.company;
  return (
    <Page live="The plan" title="Plan and invoices" verb="billing.read" tabs={<Subpages of="credits" />}>
      <Loaded read={read}>
        {() => company && (
          <section className="card pad stack" aria-label="Plan">
            <div className="line"><h2>{words(company.plan)}</h2><Badge value="active">Your plan</Badge></div>
            <p className="soft">{number.format(company.limits.perMinute)} calls a minute and {number.format(company.limits.perDay)} a day, for each key; {number.format(company.limits.megabytesPerMinute)} MB a minute and {number.format(company.limits.megabytesPerDay)} MB a day, for all of the company.</p>
            {may ? (
              <div className="line ends">
                <PlanChoice now={company.plan} choose={setAsking} />
                <span className="grow" />
                {company.plan !== 'free' && <button type="button" className="danger-plain" onClick={() => { setAsking('cancel'); }}>Cancel subscription</button>}
              </div>
            ) : <p className="soft">Owners change the plan.</p>}
          </section>
        )}
      </Loaded>
      <InvoiceList />
      {asking === 'cancel' && <Confirm title="Cancel the subscription?" verb="Cancel subscription" close={() => { setAsking(null); }} act={async () => { const o = await cancel({ input: {} }); setAsking(null); if (!o.fault) toast({ text: 'The subscription was cancelled.' }); }}><p>The company goes on with the Free plan. Credits are kept for 30 days; whoever subscribes again by then has them back.</p></Confirm>}
      {asking && asking !== 'cancel' && <Change plan={asking} close={() => { setAsking(null); }} />}
    </Page>
  );
}

function PlanChoice({ now, choose }: { now: Plan; choose: (p: Plan) => void }) {
  const others = plans.filter((p) => p !== now);
  const [to, set] = useState<Plan>(others[0] ?? 'pro');
  return (
    <>
      <Field label="Change to"><select value={to} onChange={(e) => { set(e.target.value as Plan); }}>{others.map((p) => <option key={p} value={p}>{words(p)}</option>)}</select></Field>
      <button type="button" className="plain" onClick={() => { choose(to); }}>Preview the change</button>
    </>
  );
}

// Change says what a change would come to before anybody pays.
function Change({ plan, close }: { plan: Plan; close: () => void }) {
  const read = useRead(PlanPreview, { plan });
  const [fault, setFault] = useState<Fault | null>(null);
  const [run, busy] = useWrite(ChangePlan, true);
  const send = async () => {
    const o = await run({ input: { plan } });
    setFault(o.fault);
    if (!o.data) return;
    const { invoice: i, creditNotes: notes } = o.data.changePlan;
    const credit = notes.reduce((sum, n) => sum + n.credited, 0);
    const off = notes.reduce((sum, n) => sum + n.amount, 0) - credit;
    close();
    toast({ text: `The company is on ${words(plan)} now.${i ? ` Invoice ${i.number}: ${money(i.amountDue, i.currency)} to pay.` : ''}${off > 0 ? ` ${money(off)} less to pay.` : ''}${credit > 0 ? ` ${money(credit)} as a credit.` : ''}` });
  };
  return (
    <Dialog title={`Change to ${words(plan)}?`} close={close} wide>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Loaded read={read} skeleton={4}>
          {({ previewPlanChange: p }) => (p ? (
            <>
              <dl className="card answers">
                <div className="contents"><dt>Charged now</dt><dd>{money(p.charge)}</dd></div>
                {p.reduction > 0 && <div className="contents"><dt>Taken off what is to pay</dt><dd>{money(p.reduction)}</dd></div>}
                {p.credit > 0 && <div className="contents"><dt>Credit for what is left</dt><dd>{money(p.credit)}</dd></div>}
                <div className="contents"><dt>Taken from credits</dt><dd>{money(p.creditsApplied)}</dd></div>
                <div className="contents"><dt>To pay</dt><dd><strong>{money(p.amountDue)}</strong></dd></div>
              </dl>
              <div className="table-wrap">
                <table>
                  <thead><tr><th scope="col">Limit</th><th scope="col" className="num">Now</th><th scope="col" className="num">Then</th><th scope="col" className="num">Used</th></tr></thead>
                  <tbody>{p.limits.map((l) => <tr key={l.name}><td>{limitWord[l.name] ?? l.name}{l.exceeded && <> <Badge value="WARNING">More is used</Badge></>}</td><td className="num">{number.format(l.now)}</td><td className="num">{number.format(l.then)}</td><td className="num">{l.used === null || l.used === undefined ? '–' : number.format(l.used)}</td></tr>)}</tbody>
                </table>
              </div>
            </>
          ) : <Empty title="There is nothing to preview" />)}
        </Loaded>
        <Rest fault={fault} fields={[]} />
        <footer><button type="button" className="plain" onClick={close}>Cancel</button><button type="submit" disabled={busy || !read.data?.previewPlanChange}>Change plan</button></footer>
      </form>
    </Dialog>
  );
}

function InvoiceList() {
  const read = usePages(Invoices, { first: 50 });
  const list = rows(read.data?.invoices);
  return (
    <Section title="Invoices">
      <Loaded read={read} skeleton={2}>
        {() => (list.length === 0 ? <Empty title="There are no invoices" /> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">Number</th><th scope="col">Status</th><th scope="col">Period</th><th scope="col" className="num">Sum</th><th scope="col" className="num">Credits</th><th scope="col" className="num">Due</th><th scope="col">PDF</th></tr></thead>
              <tbody>
                {list.map((i) => (
                  <tr key={i.id}>
                    <td><strong>{i.number}</strong><span className="sub">{i.lines.map((l) => l.description).join(', ')}</span></td><td className="tight"><Badge value={i.status} />{i.paidAt && <span className="sub">on {date(i.paidAt)}</span>}{i.nextChargeAt && <span className="sub">charged next on {date(i.nextChargeAt)}</span>}</td><td className="tight">{date(i.periodStart)} – {date(i.periodEnd)}</td>
                    <td className="num" data-label="Sum">{money(i.subtotal, i.currency)}</td><td className="num" data-label="Credits">{money(i.creditsApplied, i.currency)}</td><td className="num" data-label="Due">{money(i.amountDue, i.currency)}{i.creditNotes.map((n) => <span key={n.number} className="sub"><a href={n.pdfUrl} title={n.description}>{n.number}</a>: {money(n.amount - n.credited, i.currency)} off{n.credited > 0 && `, ${money(n.credited, i.currency)} as a credit`}</span>)}</td><td className="tight"><a href={i.pdfUrl}>PDF<span className="hidden"> of {i.number}</span></a></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <More shown={list.length} total={read.data?.invoices?.totalCount} page={read.data?.invoices?.pageInfo} next={read.next} /></>
        ))}
      </Loaded>
    </Section>
  );
}
