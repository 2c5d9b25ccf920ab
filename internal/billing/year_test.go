package billing_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/ent/billingaccount"
	"atrium/ent/company"
	"atrium/ent/creditentry"
	"atrium/ent/creditnote"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/ent/mailedlink"
	"atrium/ent/payment"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const day = 24 * time.Hour

// books is a company whose account a test uses.
type books struct {
	*testing.T
	w     *testkit.World
	owner context.Context
	start time.Time
}

func open(t *testing.T, w *testkit.World) *books {
	t.Helper()
	b := &books{T: t, w: w, owner: w.As(w.A, principal.Owner), start: time.Now()}
	subscribe(t, w, "free")
	return b
}

// subscribe sets the plan of company A directly, as if the operator had created it with that plan.
func subscribe(t *testing.T, w *testkit.World, plan company.Plan) {
	t.Helper()
	require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.UpdateOneID(w.A.Company.ID).SetPlan(plan).Exec(ctx)
	}))
}

// later sets the clock to d after the start.
func (b *books) later(d time.Duration) { b.w.Clock.SetOffset(d - time.Since(b.start)) }

func (b *books) change(plan string) *billing.Subscribed {
	return testkit.Run(b.T, b.w, b.owner, billing.ChangePlan, billing.PlanInput{Plan: plan})
}

func (b *books) cancel() {
	testkit.Run(b.T, b.w, b.owner, billing.CancelSubscription, billing.CancelInput{})
}

func (b *books) issue(cents int64) {
	testkit.Run(b.T, b.w, operator(b.T, b.w.A), billing.IssueCredit, billing.IssueCreditInput{Amount: cents, Reason: "disruption", Description: "Sorry"})
}

// renew runs the job's operation for the company.
func (b *books) renew() {
	err := b.w.Engine.Work(context.Background(), b.w.A.Company.ID, "billing", func(ctx context.Context, tx *op.Tx) error {
		_, err := op.RunIn(ctx, tx, billing.Renew, billing.RenewInput{})
		return err
	})
	require.NoError(b, err)
}

func (b *books) balance() int64 {
	return testkit.Run(b.T, b.w, b.owner, billing.GetBalance, billing.GetBalanceInput{}).Balance
}

// invoices returns all invoices, oldest first.
func (b *books) invoices() []*ent.Invoice {
	return testkit.Run(b.T, b.w, b.owner, billing.ListInvoices, billing.ListInvoicesInput{Page: paging.Page{Size: 100, Sort: "number"}}).Rows
}

// notes returns the credit notes, oldest first.
func (b *books) notes() []*ent.CreditNote {
	out, err := b.w.Store.Reader().CreditNote.Query().Order(creditnote.ByNumber()).All(b.owner)
	require.NoError(b, err)
	return out
}

// invited creates n invitations of the last day.
func (b *books) invited(n int) {
	require.NoError(b, b.w.Store.Write(principal.System(b.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		for i := range n {
			err := tx.MailedLink.Create().SetKind(mailedlink.KindInvitation).SetTokenHash([]byte(fmt.Sprintf("%032d", i))).
				SetInvitedBy(b.w.A.Company.ID).SetExpiresAt(b.start.Add(7 * day)).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// entries returns the entries of the ledger, oldest first.
func (b *books) entries() []*ent.CreditEntry {
	out, err := b.w.Store.Reader().CreditEntry.Query().Order(creditentry.ByNumber()).All(b.owner)
	require.NoError(b, err)
	return out
}

// A subscription is paid in advance and renews monthly. After an outage the missing invoices are made.
func TestInvoicesComeWithEachPeriod(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		require.Empty(t, b.invoices(), "the free plan has none")
		first := b.change("growth").Invoice
		require.Equal(t, int64(29_900), first.AmountDue)
		require.Equal(t, "INV-000001", billing.Number(first))
		require.Equal(t, invoice.StatusOpen, first.Status)
		b.renew()
		b.renew()
		require.Len(t, b.invoices(), 1, "nothing is billed twice")
		b.later(100 * day)
		b.renew()
		all := b.invoices()
		require.Len(t, all, 4, "three months have begun meanwhile")
		for i, inv := range all {
			require.Equal(t, int64(i+1), inv.Number)
			if i > 0 {
				require.Equal(t, all[i-1].PeriodEnd, inv.PeriodStart)
			}
		}
		paid := testkit.Run(t, w, operator(t, w.A), billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: first.ID}, Reference: "SEPA 17"})
		require.Equal(t, invoice.StatusPaid, paid.Status)
		testkit.Refused(t, w, operator(t, w.A), billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: first.ID}, Reference: "SEPA 17"}, apperr.Conflict)
		testkit.Refused(t, w, b.owner, billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: all[1].ID}, Reference: "x"}, apperr.Forbidden)
		b.add(t)
	})
}

// A more expensive plan is charged for the rest of the month, after credits, oldest first. A cheaper plan gives a credit for what was
// paid.
func TestChangesAreProrated(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.change("starter")
		b.issue(1_000)
		b.issue(500)
		month := b.invoices()[0]
		period := billing.Period{Start: month.PeriodStart, End: month.PeriodEnd}
		b.later(10 * day)
		preview := testkit.Run(t, w, b.owner, billing.PreviewPlanChange, billing.PlanInput{Plan: "growth"})
		inv := b.change("growth").Invoice
		want := period.Prorate(20_000, inv.CreatedAt)
		require.Equal(t, want, inv.Subtotal)
		require.Equal(t, int64(1_500), inv.CreditsApplied)
		require.Equal(t, want-1_500, inv.AmountDue)
		require.InDelta(t, inv.AmountDue, preview.AmountDue, 1, "the preview was a moment earlier")
		require.Zero(t, b.balance())
		all := b.entries()
		require.Len(t, all, 4, "one entry for each credit that the invoice draws on")
		require.Equal(t, []int64{1, 2}, []int64{*all[2].DrawnFrom, *all[3].DrawnFrom})
		require.Equal(t, []int64{-1_000, -500}, []int64{all[2].Amount, all[3].Amount})

		b.pay(month)
		b.pay(inv)
		b.later(20 * day)
		require.Nil(t, b.change("pro").Invoice)
		credit := b.entries()[4]
		require.Equal(t, creditentry.ReasonDowngrade, credit.Reason)
		require.Equal(t, period.Prorate(7_000, credit.CreatedAt)+period.Prorate(20_000, credit.CreatedAt), credit.Amount, "what is unused of each invoice")
		b.later(35 * day)
		b.renew()
		next := b.invoices()[2]
		require.Equal(t, int64(2_900), next.CreditsApplied, "the next invoice takes from the credit")
		require.Equal(t, invoice.StatusPaid, next.Status, "nothing is left to pay")
		b.add(t)
	})
}

// A company that subscribes again on day 29 keeps its credits; on day 31 they are gone, whether or not the job ran in between.
func TestCreditsOutliveACancellationFor30Days(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		back time.Duration
		job  bool
		left int64
	}{
		"day 29": {29 * day, true, 2_100}, "day 31": {31 * day, true, 0}, "day 31, nothing ran": {31 * day, false, 0}, "day 29, nothing ran": {29 * day, false, 2_100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testkit.SQLiteWorld(t)
			b := open(t, w)
			b.change("pro")
			b.issue(5_000)
			b.cancel()
			require.Equal(t, int64(5_000), b.balance(), "a cancellation gives nothing and takes nothing")
			testkit.Refused(t, w, b.owner, billing.CancelSubscription, billing.CancelInput{}, apperr.Conflict)
			b.later(tc.back)
			if tc.job {
				b.renew()
			}
			inv := b.change("pro").Invoice
			require.Equal(t, int64(2_900), inv.Subtotal, "a whole month")
			require.Equal(t, tc.left, b.balance())
			b.issue(100_000)
			b.later(tc.back + 40*day)
			b.renew()
			require.NotZero(t, b.balance(), "who has subscribed again loses nothing")
			b.add(t)
		})
	}
}

// Some changes only an owner may make, and some nobody.
func TestWhoMayChangeThePlan(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		for _, role := range []principal.Role{principal.Admin, principal.Agent, principal.Member} {
			testkit.Refused(t, w, w.As(w.A, role), billing.ChangePlan, billing.PlanInput{Plan: "pro"}, apperr.Forbidden)
			testkit.Refused(t, w, w.As(w.A, role), billing.CancelSubscription, billing.CancelInput{}, apperr.Forbidden)
			testkit.Refused(t, w, w.As(w.A, role), billing.Renew, billing.RenewInput{}, apperr.Forbidden)
		}
		owner := w.As(w.A, principal.Owner)
		testkit.Refused(t, w, owner, billing.ChangePlan, billing.PlanInput{Plan: "pro"}, apperr.Conflict) // its plan is Enterprise
		subscribe(t, w, "free")
		testkit.Refused(t, w, owner, billing.ChangePlan, billing.PlanInput{Plan: "free"}, apperr.Conflict)
		testkit.Refused(t, w, owner, billing.ChangePlan, billing.PlanInput{Plan: "enterprise"}, apperr.Conflict)
		testkit.Refused(t, w, owner, billing.ChangePlan, billing.PlanInput{Plan: "platinum"}, apperr.Validation)
		testkit.Refused(t, w, owner, billing.PreviewPlanChange, billing.PlanInput{Plan: "free"}, apperr.Conflict)
	})
}

// When 64 callers change to the same plan at the same time, one succeeds, and there is one invoice.
func TestOneOfManyChanges(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.issue(1_000)
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() { _, _, _ = op.Run(b.owner, w.Engine, billing.ChangePlan, billing.PlanInput{Plan: "pro"}, nil) })
		}
		wg.Wait()
		require.Len(t, b.invoices(), 1)
		require.Equal(t, int64(1_900), b.invoices()[0].AmountDue)
		require.Zero(t, b.balance())
		b.add(t)
	})
}

// After any sequence of operations the books add up, and equal a computation from the start.
func TestBooksAlwaysAddUp(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		elapsed, bank, by := time.Duration(0), newBank(), operator(t, w.A)
		b.card("pm_1")
		rapid.Check(t, func(rt *rapid.T) {
			for range rapid.IntRange(1, 6).Draw(rt, "steps") {
				elapsed += time.Duration(rapid.Int64Range(0, int64(20*day)).Draw(rt, "later"))
				b.later(elapsed)
				switch rapid.IntRange(0, 6).Draw(rt, "what") {
				case 0:
					b.issue(rapid.Int64Range(1, 40_000).Draw(rt, "cents"))
				case 1, 2:
					plan := rapid.SampledFrom([]string{"free", "pro", "starter", "growth", "business"}).Draw(rt, "plan")
					_, _, err := op.Run(b.owner, w.Engine, billing.ChangePlan, billing.PlanInput{Plan: plan}, nil)
					require.Contains(t, []apperr.Code{"", apperr.Conflict}, codeOf(err))
				case 3:
					_, _, err := op.Run(b.owner, w.Engine, billing.CancelSubscription, billing.CancelInput{}, nil)
					require.Contains(t, []apperr.Code{"", apperr.Conflict}, codeOf(err))
				case 4:
					b.renew()
				case 5:
					bank.does = rapid.SampledFrom([]string{takes, takes, refuses, isDown, dropsLine}).Draw(rt, "bank")
					if err := b.run(bank); bank.does == takes || bank.does == refuses {
						require.NoError(t, err)
					}
				case 6:
					b.correct(by, rt)
				}
			}
			for _, p := range b.payments() {
				c, took := bank.charge[p.ID]
				if took {
					require.Equal(t, p.Amount, c.Amount)
				}
				require.True(t, p.Status == payment.StatusPending || took == (p.Status == payment.StatusSucceeded), "what the bank took is what the books say")
			}
			b.add(t)
		})
	})
}

// correct runs a random operation of the operator on a random invoice.
func (b *books) correct(by context.Context, rt *rapid.T) {
	all, err := b.w.Store.Reader().Invoice.Query().Order(invoice.ByNumber()).All(b.owner)
	require.NoError(b, err)
	if len(all) == 0 {
		return
	}
	one := op.ByID{ID: all[rapid.IntRange(max(0, len(all)-4), len(all)-1).Draw(rt, "invoice")].ID}
	switch rapid.IntRange(0, 3).Draw(rt, "how") {
	case 0:
		_, _, err = op.Run(by, b.w.Engine, billing.PayInvoice, billing.PayInvoiceInput{ByID: one, Reference: "x"}, nil)
	case 1:
		_, _, err = op.Run(by, b.w.Engine, billing.VoidInvoice, billing.VoidInvoiceInput{ByID: one, Reason: "x"}, nil)
	case 2:
		_, _, err = op.Run(by, b.w.Engine, billing.WriteOffInvoice, billing.WriteOffInvoiceInput{ByID: one, Reason: "x"}, nil)
	case 3:
		cents := rapid.Int64Range(1, 30_000).Draw(rt, "note")
		_, _, err = op.Run(by, b.w.Engine, billing.CreditInvoice, billing.CreditInvoiceInput{ByID: one, Amount: cents, Description: "x"}, nil)
	}
	require.Contains(b, []apperr.Code{"", apperr.Conflict}, codeOf(err))
}

func codeOf(err error) apperr.Code {
	if err == nil {
		return ""
	}
	return apperr.CodeOf(err)
}

// add recomputes everything from the entries alone and compares.
func (b *books) add(t *testing.T) {
	t.Helper()
	type credit struct{ number, left int64 }
	var open []credit
	var balance int64
	applied := map[string]int64{}
	for i, e := range b.entries() {
		require.Equal(t, int64(i+1), e.Number, "no number is missing")
		balance += e.Amount
		require.Equal(t, balance, e.Balance, "after entry %d", e.Number)
		require.GreaterOrEqual(t, balance, int64(0))
		switch e.Type {
		case creditentry.TypeIssued:
			open = append(open, credit{e.Number, e.Amount})
		case creditentry.TypeApplied:
			require.Equal(t, open[0].number, *e.DrawnFrom, "the oldest first")
			open[0].left += e.Amount
			require.GreaterOrEqual(t, open[0].left, int64(0), "no credit is used twice")
			if open[0].left == 0 {
				open = open[1:]
			}
			applied[*e.InvoiceID] -= e.Amount
		case creditentry.TypeForfeited:
			open = nil
			require.Zero(t, balance)
		}
	}
	require.Equal(t, balance, b.balance())
	account, err := b.w.Store.Reader().BillingAccount.Query().Where(billingaccount.CompanyID(b.w.A.Company.ID)).Only(b.owner)
	require.NoError(t, err)
	notes, credited, given := b.notes(), map[string]int64{}, map[string]int64{}
	for i, n := range notes {
		require.Equal(t, int64(i+1), n.Number)
		credited[n.InvoiceID] += n.Amount
		given[n.InvoiceID] += n.Credited
	}
	journal, err := b.w.Store.Reader().JournalLine.Query().All(b.owner)
	require.NoError(t, err)
	trial, sources, cash := map[journalline.Account]int64{}, map[string]int64{}, map[string]int64{}
	for _, l := range journal {
		trial[l.Account] += l.Amount
		sources[l.Source] += l.Amount
		if l.Account == journalline.AccountCash {
			cash[l.Source] += l.Amount
		}
	}
	var receivable, lost int64
	invoices, err := b.w.Store.Reader().Invoice.Query().Where(invoice.NumberGT(0)).Order(invoice.ByNumber()).All(b.owner)
	require.NoError(t, err)
	require.Equal(t, account.Invoices, int64(len(invoices)))
	for i, inv := range invoices {
		lines, err := billing.Lines(inv)
		require.NoError(t, err)
		var sum int64
		for _, l := range lines {
			sum += l.Amount
		}
		require.Equal(t, int64(i+1), inv.Number, "without gaps")
		require.Equal(t, sum, inv.Subtotal)
		require.Equal(t, applied[inv.ID], inv.CreditsApplied)
		require.Equal(t, inv.Subtotal-inv.CreditsApplied, inv.AmountDue)
		require.GreaterOrEqual(t, inv.AmountDue, int64(0))
		require.Equal(t, credited[inv.ID], inv.Credited)
		require.LessOrEqual(t, inv.Credited, inv.Subtotal)
		require.GreaterOrEqual(t, billing.Left(inv), int64(0))
		require.LessOrEqual(t, given[inv.ID], cash[inv.ID]+inv.CreditsApplied, "no credit is given for what nobody paid")
		switch inv.Status {
		case invoice.StatusOpen:
			require.NotZero(t, billing.Left(inv), "nothing left to pay is paid")
			receivable += billing.Left(inv)
		case invoice.StatusUncollectible:
			lost += billing.Left(inv)
		}
	}
	for source, sum := range sources {
		require.Zero(t, sum, "the booking of %s", source)
	}
	require.Equal(t, -balance, trial[journalline.AccountCredit], "what the books owe in credits is the balance")
	require.Equal(t, receivable, trial[journalline.AccountReceivable])
	require.Equal(t, lost, trial[journalline.AccountBadDebt])
	require.GreaterOrEqual(t, trial[journalline.AccountCash], int64(0))
	var all int64
	for _, sum := range trial {
		all += sum
	}
	require.Zero(t, all, "the trial balance: %v", trial)
}
