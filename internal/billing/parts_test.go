package billing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/creditentry"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/ent/payment"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

func (b *books) pay(inv *ent.Invoice) {
	testkit.Run(b.T, b.w, operator(b.T, b.w.A), billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reference: "SEPA"})
}

func (b *books) void(inv *ent.Invoice) {
	testkit.Run(b.T, b.w, operator(b.T, b.w.A), billing.VoidInvoice, billing.VoidInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reason: "x"})
}

func (b *books) writeOff(inv *ent.Invoice) {
	testkit.Run(b.T, b.w, operator(b.T, b.w.A), billing.WriteOffInvoice, billing.WriteOffInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reason: "x"})
}

// account returns the company's account as it is in the database.
func (b *books) account() *ent.BillingAccount {
	a, err := b.w.Store.Reader().BillingAccount.Query().Only(b.owner)
	require.NoError(b, err)
	return a
}

// unusedOf returns what is unused, from the note's moment on, of a price in the period of the company's first invoice.
func (b *books) unusedOf(price int64, note *ent.CreditNote) int64 {
	first := b.invoices()[0]
	return billing.Period{Start: first.PeriodStart, End: first.PeriodEnd}.Prorate(price, note.CreatedAt)
}

// What is unused of a plan that nobody paid is taken off its invoice and becomes no credit, however often the plan changes.
func TestADowngradeThatNobodyPaid(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.change("business")
		b.later(10 * day)
		preview := testkit.Run(t, w, b.owner, billing.PreviewPlanChange, billing.PlanInput{Plan: "pro"})
		got := b.change("pro")
		require.Len(t, got.Notes, 1)
		require.Equal(t, b.unusedOf(97_000, got.Notes[0]), got.Notes[0].Amount)
		require.Zero(t, got.Notes[0].Credited)
		require.Equal(t, "Change from Business to Pro", got.Notes[0].Description)
		require.Equal(t, 99_900-got.Notes[0].Amount, billing.Left(b.invoices()[0]))
		require.InDelta(t, got.Notes[0].Amount, preview.Reduction, 1, "the preview was a moment earlier")
		require.Zero(t, preview.Credit)
		audited, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("plan.changed")).Order(ent.Desc(auditentry.FieldCreatedAt)).First(b.owner)
		require.NoError(t, err)
		require.Contains(t, string(audited.Changes), `"CN-000001"`)
		for i := range 6 {
			b.later(time.Duration(11+20*i) * day)
			b.change([]string{"business", "starter", "free"}[i%3])
			require.Zero(t, b.balance())
		}
		for _, inv := range b.invoices() {
			require.Zero(t, inv.CreditsApplied)
		}
		b.add(t)
	})
}

// Only what was paid becomes a credit, whichever way it was paid.
func TestADowngradeThatWasPaid(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.issue(50_000)
		b.change("business") // half of it is paid by the credit
		b.later(day)
		note := b.change("pro").Notes[0]
		require.Equal(t, b.unusedOf(97_000, note), note.Amount)
		require.Equal(t, note.Amount-49_900, note.Credited, "what was left to pay comes first")
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status, "nothing is left to pay")
		require.Equal(t, note.Credited, b.balance())
		last := b.entries()[len(b.entries())-1]
		require.Equal(t, creditentry.ReasonDowngrade, last.Reason)
		require.Equal(t, "Change from Business to Pro", last.Description)

		up := b.change("growth").Invoice
		if billing.Left(up) > 0 {
			b.pay(up)
		}
		before := b.balance()
		b.later(2 * day)
		preview := testkit.Run(t, w, b.owner, billing.PreviewPlanChange, billing.PlanInput{Plan: "pro"})
		note = b.change("pro").Notes[0]
		require.Equal(t, up.ID, note.InvoiceID)
		require.Equal(t, note.Amount, note.Credited)
		require.InDelta(t, note.Credited, preview.Credit, 1)
		require.Zero(t, preview.Reduction)
		require.Equal(t, before+note.Credited, b.balance())
		b.add(t)
	})
}

// Each invoice of a period bills a part of the price, and is corrected by what is unused of that part.
func TestADowngradeOfSeveralInvoices(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second func(*books, *ent.Invoice) // what happens to the invoice for Starter, and to the one for the change to Business
		to            string
		want          [2]string // what happens to the unused part of each: off, credit, or nothing
	}{
		"neither is paid":                    {nil, nil, "pro", [2]string{"off", "off"}},
		"the first is paid":                  {(*books).pay, nil, "pro", [2]string{"credit", "off"}},
		"the first is paid, and not reduced": {(*books).pay, nil, "starter", [2]string{"", "off"}},
		"the second is paid":                 {nil, (*books).pay, "pro", [2]string{"off", "credit"}},
		"both are paid":                      {(*books).pay, (*books).pay, "pro", [2]string{"credit", "credit"}},
		"the first is void":                  {(*books).void, nil, "pro", [2]string{"", "off"}},
		"the second is void":                 {(*books).pay, (*books).void, "starter", [2]string{"", ""}},
		"the second is void, to less":        {(*books).pay, (*books).void, "pro", [2]string{"credit", ""}},
		"both are void":                      {(*books).void, (*books).void, "free", [2]string{"", ""}},
		"the first is written off":           {(*books).writeOff, (*books).pay, "free", [2]string{"off", "credit"}},
		"both are written off":               {(*books).writeOff, (*books).writeOff, "free", [2]string{"off", "off"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.Each(t, func(t *testing.T, w *testkit.World) {
				b := open(t, w)
				invoices := []*ent.Invoice{b.change("starter").Invoice, nil}
				b.later(5 * day)
				invoices[1] = b.change("business").Invoice
				for i, do := range []func(*books, *ent.Invoice){tc.first, tc.second} {
					if do != nil {
						do(b, invoices[i])
					}
				}
				b.later(9 * day)
				notes := map[string]*ent.CreditNote{}
				for _, n := range b.change(tc.to).Notes {
					notes[n.InvoiceID] = n
				}
				price := map[string]int64{"free": 0, "pro": 2_900, "starter": 9_900}[tc.to]
				var credit int64
				for i, unused := range []int64{9_900 - price, 90_000} {
					n := notes[invoices[i].ID]
					if tc.want[i] == "" {
						require.Nil(t, n, "invoice %d", i+1)
						continue
					}
					require.Equal(t, b.unusedOf(unused, n), n.Amount)
					require.Equal(t, map[string]int64{"off": 0, "credit": n.Amount}[tc.want[i]], n.Credited, "invoice %d", i+1)
					credit += n.Credited
				}
				require.Equal(t, credit, b.balance())
				b.add(t)
			})
		})
	}
}

// A change back and forth leaves nothing, and what the operator has credited is not credited again.
func TestNothingIsGivenBackTwice(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.pay(b.change("starter").Invoice)
		b.later(5 * day)
		for range 3 {
			up := b.change("business").Invoice
			down := b.change("starter").Notes
			require.Len(t, down, 1)
			require.Equal(t, up.ID, down[0].InvoiceID)
			require.InDelta(t, up.Subtotal, down[0].Amount, 1)
		}
		require.Zero(t, b.balance())
		first := b.invoices()[0]
		testkit.Run(t, w, operator(t, w.A), billing.CreditInvoice, billing.CreditInvoiceInput{ByID: op.ByID{ID: first.ID}, Amount: 9_000, Description: "Sorry"})
		require.Equal(t, int64(9_000), b.balance())
		require.Equal(t, int64(900), b.change("free").Notes[0].Amount)
		require.Equal(t, int64(9_900), b.balance(), "all that was paid")
		b.add(t)
	})
}

// A charge that is under way when its invoice is reduced: what it takes too much becomes a credit, once it has taken it.
func TestADowngradeWhileTheCardIsCharged(t *testing.T) {
	t.Parallel()
	for name, outcome := range map[string]payment.Status{"succeeds": payment.StatusSucceeded, "fails": payment.StatusFailed} {
		for some, promotion := range map[string]int64{"leaves some": 0, "leaves nothing": 99_000} {
			t.Run(name+", and the note "+some, func(t *testing.T) {
				t.Parallel()
				testkit.Each(t, func(t *testing.T, w *testkit.World) {
					b, bank, mails := open(t, w), newBank(), &letters{}
					w.Engine.Mailer = mails
					b.card("pm_1")
					if promotion > 0 {
						b.issue(promotion)
					}
					b.change("business")
					bank.does = ponders
					require.NoError(t, b.run(bank))
					due := 99_900 - promotion
					note := b.change("pro").Notes[0]
					require.Equal(t, max(0, note.Amount-due), b.balance(), "nothing is paid yet")
					b.add(t)
					bank.decide(b.payments()[0].ID, billing.Outcome{Status: outcome, Reference: "ref", Failure: "late"})
					b.later(billing.ChargeAgainAfter + time.Minute)
					require.NoError(t, b.run(bank))
					inv := b.invoices()[0]
					require.Equal(t, outcome, b.payments()[0].Status)
					switch {
					case outcome == payment.StatusSucceeded:
						require.Equal(t, invoice.StatusPaid, inv.Status)
						require.Equal(t, note.Amount, b.balance())
					case promotion == 0:
						require.Equal(t, due-note.Amount, billing.Left(inv))
						require.NotNil(t, inv.NextChargeAt)
						require.Len(t, mails.sent, 1)
						bank.does = takes
						b.later(3 * day)
						require.NoError(t, b.run(bank))
						require.Equal(t, due-note.Amount, b.payments()[1].Amount)
						require.Zero(t, b.balance())
					default:
						require.Equal(t, invoice.StatusPaid, inv.Status)
						require.Nil(t, inv.NextChargeAt)
						require.Empty(t, mails.sent, "there is nothing to pay")
					}
					b.add(t)
				})
			})
		}
	}
}

// A period that was billed by a version that kept no parts: they follow from its invoices.
func TestPartsOfAPeriodWithoutThem(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.pay(b.change("starter").Invoice)
		b.later(5*day + 7*time.Hour)
		second := b.change("growth").Invoice
		b.later(6 * day)
		third := b.change("business").Invoice
		require.NoError(t, w.Store.Write(b.owner, func(ctx context.Context, tx *store.Tx) error {
			return tx.BillingAccount.Update().ClearParts().Exec(ctx)
		}))
		b.later(9 * day)
		notes := b.change("pro").Notes
		require.Len(t, notes, 3)
		for i, want := range []struct {
			invoice string
			unused  int64
		}{{b.invoices()[0].ID, 7_000}, {second.ID, 20_000}, {third.ID, 70_000}} {
			require.Equal(t, want.invoice, notes[i].InvoiceID)
			require.Equal(t, b.unusedOf(want.unused, notes[i]), notes[i].Amount)
		}
		require.Equal(t, notes[0].Amount, b.balance(), "only the first was paid")
		b.add(t)
	})
}

// model computes what a company's services cost from its changes alone: the price of each month that has begun, and for a change the
// difference of prices for the rest of the month.
type model struct {
	b        *books
	services float64 // cents
	plan     string
	start    time.Time // of the current month; zero without one
	end      time.Time
}

var prices = map[string]float64{"free": 0, "pro": 2_900, "starter": 9_900, "growth": 29_900, "business": 99_900}

// month follows the account to the month that it has come to.
func (m *model) month() {
	m.b.renew()
	a := m.b.account()
	if a.PeriodStartAt == nil {
		m.start, m.end = time.Time{}, time.Time{}
		return
	}
	if !m.start.IsZero() {
		months := (a.PeriodStartAt.Year()-m.start.Year())*12 + int(a.PeriodStartAt.Month()-m.start.Month())
		m.services += prices[m.plan] * float64(months)
	}
	m.start, m.end = *a.PeriodStartAt, *a.PeriodEndAt
}

func (m *model) change(t *testing.T, to string) {
	_, _, err := op.Run(m.b.owner, m.b.w.Engine, billing.ChangePlan, billing.PlanInput{Plan: to}, nil)
	if to == m.plan {
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		return
	}
	require.NoError(t, err)
	share := 1.0
	if !m.start.IsZero() {
		share = m.end.Sub(m.b.w.Clock.Now()).Seconds() / m.end.Sub(m.start).Seconds()
	}
	m.services += (prices[to] - prices[m.plan]) * share
	m.plan = to
	if to == "free" {
		m.start = time.Time{}
		return
	}
	a := m.b.account()
	m.start, m.end = *a.PeriodStartAt, *a.PeriodEndAt
}

func (m *model) cancel() {
	_, _, err := op.Run(m.b.owner, m.b.w.Engine, billing.CancelSubscription, billing.CancelInput{}, nil)
	require.Equal(m.b, m.plan == "free", err != nil, "%v", err)
	m.plan, m.start = "free", time.Time{} // the month was billed, and stays so
}

// agrees compares the books with the model: the money that came in is what services cost, less what is open, plus what credits hold.
func (m *model) agrees(t *testing.T) {
	t.Helper()
	db := m.b.w.Store.Reader()
	journal, err := db.JournalLine.Query().Where(journalline.AccountEQ(journalline.AccountCash)).All(m.b.owner)
	require.NoError(t, err)
	var cash, open, held int64
	for _, l := range journal {
		cash += l.Amount
	}
	all, err := db.Invoice.Query().All(m.b.owner)
	require.NoError(t, err)
	for _, inv := range all {
		open += billing.Left(inv)
	}
	issued := int64(0)
	for _, e := range m.b.entries() {
		held += e.Amount
		switch e.Type {
		case creditentry.TypeForfeited:
			held -= e.Amount // lost, but the money for it came in
		case creditentry.TypeIssued:
			issued += e.Amount
		case creditentry.TypeApplied:
		}
	}
	billed := float64(cash - held + open)
	// A change is rounded for each of up to four invoices. These cents must not add up here.
	require.InDelta(t, m.services, billed, 4, "money in %d, in credits %d, open %d", cash, held, open)
	m.services = billed
	require.LessOrEqual(t, held, cash, "credits are money that came in")
	if cash == 0 {
		require.Zero(t, issued, "who pays nothing gets nothing")
	}
}

// Money in = services billed − what is open + what credits hold, for random changes of plan, failed cards and payments by hand.
func TestMoneyInIsWhatServicesCost(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		w.Engine.Mailer = &letters{}
		elapsed, bank, m := time.Duration(0), newBank(), &model{b: b, plan: "free"}
		rapid.Check(t, func(rt *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(rt, "steps") {
				// Rapid prefers bounds: two of 15 days are a month, which would then end between the model's look at it and the change.
				elapsed += time.Duration(rapid.Int64Range(0, int64(14*day+17*time.Hour)).Draw(rt, "later"))
				b.later(elapsed)
				m.month()
				switch rapid.IntRange(0, 9).Draw(rt, "what") {
				case 0, 1, 2, 3:
					m.change(t, rapid.SampledFrom([]string{"free", "pro", "starter", "growth", "business"}).Draw(rt, "plan"))
				case 4:
					m.cancel()
				case 5:
					b.card(rapid.SampledFrom([]string{"pm_1", "pm_2"}).Draw(rt, "card"))
				case 6, 7:
					bank.does = rapid.SampledFrom([]string{takes, refuses, refuses, ponders, dropsLine}).Draw(rt, "bank")
					for _, p := range b.payments() {
						if p.Status == payment.StatusPending {
							bank.decide(p.ID, billing.Outcome{Status: rapid.SampledFrom([]payment.Status{payment.StatusSucceeded, payment.StatusFailed}).Draw(rt, "outcome"), Reference: "x"})
						}
					}
					_ = b.run(bank)
				default:
					m.byHand(t, rt)
				}
				m.agrees(t)
			}
			b.add(t)
		})
	})
}

// byHand records a payment of a random invoice, or writes it off.
func (m *model) byHand(t *testing.T, rt *rapid.T) {
	all, err := m.b.w.Store.Reader().Invoice.Query().Order(invoice.ByNumber()).All(m.b.owner)
	require.NoError(t, err)
	if len(all) == 0 {
		return
	}
	one := op.ByID{ID: all[rapid.IntRange(max(0, len(all)-4), len(all)-1).Draw(rt, "invoice")].ID}
	if rapid.IntRange(0, 4).Draw(rt, "lost") == 0 {
		_, _, err = op.Run(operator(t, m.b.w.A), m.b.w.Engine, billing.WriteOffInvoice, billing.WriteOffInvoiceInput{ByID: one, Reason: "x"}, nil)
	} else {
		_, _, err = op.Run(operator(t, m.b.w.A), m.b.w.Engine, billing.PayInvoice, billing.PayInvoiceInput{ByID: one, Reference: "x"}, nil)
	}
	require.Contains(t, []apperr.Code{"", apperr.Conflict}, codeOf(err))
}
