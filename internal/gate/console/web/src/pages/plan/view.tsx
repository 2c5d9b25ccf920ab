import { useState } from 'react';
import { useAsked } from '../../app/asked';
import { rows, usePages, useRead, useWrite } from '../../app/data';
import type { Fault } from '../../app/fault';
import { useCan } from '../../app/session';
import { locale, placed, t } from '../../app/text';
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
const limitWord: Record<string, string> = { callsPerMinute: t('Calls per minute'), callsPerDay: t('Calls per day'), megabytesPerMinute: t('Megabytes per minute'), megabytesPerDay: t('Megabytes per day'), queryCost: t('Cost of a query'), invitationsPerDay: t('Invitations per day') };
const number = new Intl.NumberFormat(locale);

// PlanView is what the company has subscribed to, what another plan would come to, and what was asked for.
export default function PlanView() {
  const read = useRead(PlanOf, {});
  const may = useCan('billing.change');
  const [asking, setAsking] = useAsked<Plan | 'cancel' | null>('plan', null);
  const [cancel] = useWrite(CancelSubscription);
  const company = read.data?.viewer.company;
  return (
    <Page live={t('The plan')} title={t('Plan and invoices')} verb="billing.read" tabs={<Subpages of="credits" />}>
      <Loaded read={read}>
        {() => company && (
          <section className="card pad stack" aria-label={t('Plan')}>
            <div className="line"><h2>{words(company.plan)}</h2><Badge value="active">{t('Your plan')}</Badge></div>
            <p className="soft">{t('Each key: {perMinute} calls per minute and {perDay} per day. The whole company: {megabytesPerMinute} MB per minute and {megabytesPerDay} MB per day.', company.limits)}</p>
            {may ? (
              <div className="line ends">
                <PlanChoice now={company.plan} choose={setAsking} />
                <span className="grow" />
                {company.plan !== 'free' && <button type="button" className="danger-plain" onClick={() => { setAsking('cancel'); }}>{t('Cancel subscription')}</button>}
              </div>
            ) : <p className="soft">{t('Only owners can change the plan.')}</p>}
          </section>
        )}
      </Loaded>
      <InvoiceList />
      {asking === 'cancel' && <Confirm title={t('Cancel the subscription?')} verb={t('Cancel subscription')} close={() => { setAsking(null); }} act={async () => { const o = await cancel({ input: {} }); setAsking(null); if (!o.fault) toast({ text: t('The subscription was cancelled.') }); }}><p>{t('The company continues on the Free plan. Credits are kept for 30 days and come back if you subscribe again by then.')}</p></Confirm>}
      {asking && asking !== 'cancel' && <Change plan={asking} close={() => { setAsking(null); }} />}
    </Page>
  );
}

function PlanChoice({ now, choose }: { now: Plan; choose: (p: Plan) => void }) {
  const others = plans.filter((p) => p !== now);
  const [to, set] = useState<Plan>(others[0] ?? 'pro');
  return (
    <>
      <Field label={t('Change to')}><select value={to} onChange={(e) => { set(e.target.value as Plan); }}>{others.map((p) => <option key={p} value={p}>{words(p)}</option>)}</select></Field>
      <button type="button" className="plain" onClick={() => { choose(to); }}>{t('Preview the change')}</button>
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
    toast({ text: [
      t('The company is now on the {plan} plan.', { plan: words(plan) }), i && t('Invoice {number}: {amount} to pay.', { number: i.number, amount: money(i.amountDue, i.currency) }),
      off > 0 && t('{amount} less to pay.', { amount: money(off) }), credit > 0 && t('{amount} as credit.', { amount: money(credit) }),
    ].filter(Boolean).join(' ') });
  };
  return (
    <Dialog title={t('Change to {plan}?', { plan: words(plan) })} close={close} wide>
      <form className="stack" onSubmit={(e) => { e.preventDefault(); void send(); }}>
        <Loaded read={read} skeleton={4}>
          {({ previewPlanChange: p }) => (p ? (
            <>
              <dl className="card answers">
                <div className="contents"><dt>{t('Charged now')}</dt><dd>{money(p.charge)}</dd></div>
                {p.reduction > 0 && <div className="contents"><dt>{t('Deducted from the amount due')}</dt><dd>{money(p.reduction)}</dd></div>}
                {p.credit > 0 && <div className="contents"><dt>{t('Credit for the unused time')}</dt><dd>{money(p.credit)}</dd></div>}
                <div className="contents"><dt>{t('Paid with credits')}</dt><dd>{money(p.creditsApplied)}</dd></div>
                <div className="contents"><dt>{t('Amount due')}</dt><dd><strong>{money(p.amountDue)}</strong></dd></div>
              </dl>
              <div className="table-wrap">
                <table>
                  <thead><tr><th scope="col">{t('Limit')}</th><th scope="col" className="num">{t('Current')}</th><th scope="col" className="num">{t('After the change')}</th><th scope="col" className="num">{t('Used')}</th></tr></thead>
                  <tbody>{p.limits.map((l) => <tr key={l.name}><td>{limitWord[l.name] ?? l.name}{l.exceeded && <> <Badge value="WARNING">{t('Exceeded')}</Badge></>}</td><td className="num">{number.format(l.now)}</td><td className="num">{number.format(l.then)}</td><td className="num">{l.used === null || l.used === undefined ? '–' : number.format(l.used)}</td></tr>)}</tbody>
                </table>
              </div>
            </>
          ) : <Empty title={t('There is nothing to preview')} />)}
        </Loaded>
        <Rest fault={fault} fields={[]} />
        <footer><button type="button" className="plain" onClick={close}>{t('Cancel')}</button><button type="submit" disabled={busy || !read.data?.previewPlanChange}>{t('Change plan')}</button></footer>
      </form>
    </Dialog>
  );
}

function InvoiceList() {
  const read = usePages(Invoices, { first: 50 });
  const list = rows(read.data?.invoices);
  return (
    <Section title={t('Invoices')}>
      <Loaded read={read} skeleton={2}>
        {() => (list.length === 0 ? <Empty title={t('There are no invoices')} /> : (
          <><div className="table-wrap cards-when-narrow">
            <table>
              <thead><tr><th scope="col">{t('Number')}</th><th scope="col">{t('Status')}</th><th scope="col">{t('Period')}</th><th scope="col" className="num">{t('Total')}</th><th scope="col" className="num">{t('Credits')}</th><th scope="col" className="num">{t('invoice|Due')}</th><th scope="col">{t('PDF')}</th></tr></thead>
              <tbody>
                {list.map((i) => (
                  <tr key={i.id}>
                    <td><strong>{i.number}</strong><span className="sub">{i.lines.map((l) => l.description).join(', ')}</span></td><td className="tight"><Badge value={i.status} />{i.paidAt && <span className="sub">{t('on {date}', { date: date(i.paidAt) })}</span>}{i.nextChargeAt && <span className="sub">{t('charged next on {date}', { date: date(i.nextChargeAt) })}</span>}</td><td className="tight">{date(i.periodStart)} – {date(i.periodEnd)}</td>
                    <td className="num" data-label={t('Total')}>{money(i.subtotal, i.currency)}</td><td className="num" data-label={t('Credits')}>{money(i.creditsApplied, i.currency)}</td><td className="num" data-label={t('invoice|Due')}>{money(i.amountDue, i.currency)}{i.creditNotes.map((n) => <span key={n.number} className="sub">{placed(n.credited > 0 ? t('{note}: {off} off, {credit} as credit') : t('{note}: {off} off'), { note: <a href={n.pdfUrl} title={n.description}>{n.number}</a>, off: money(n.amount - n.credited, i.currency), credit: money(n.credited, i.currency) })}</span>)}</td><td className="tight"><a href={i.pdfUrl} aria-label={t('PDF of {number}', { number: i.number })}>{t('PDF')}</a></td>
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
