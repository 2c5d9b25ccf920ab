package billing_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/creditentry"
	"atrium/ent/invoice"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A credit note first reduces the amount left to pay; the rest becomes a credit. All notes together never exceed the invoice.
func TestCreditNotes(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, by := open(t, w), operator(t, w.A)
		b.issue(1_000)
		inv := b.change("pro").Invoice // 2,900, of which 1,900 are due
		credit := func(cents int64) billing.CreditInvoiceInput {
			return billing.CreditInvoiceInput{ByID: op.ByID{ID: inv.ID}, Amount: cents, Description: "Too much"}
		}
		testkit.Refused(t, w, by, billing.CreditInvoice, credit(2_901), apperr.Conflict)
		n := testkit.Run(t, w, by, billing.CreditInvoice, credit(400))
		require.Equal(t, "CN-000001", billing.NoteNumber(n))
		require.Zero(t, n.Credited)
		require.Equal(t, int64(1_500), billing.Left(b.invoices()[0]))
		require.Equal(t, int64(1_900), b.invoices()[0].AmountDue, "the invoice itself never changes")
		n = testkit.Run(t, w, by, billing.CreditInvoice, credit(2_000))
		require.Equal(t, int64(500), n.Credited)
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status, "nothing is left to pay")
		require.Equal(t, int64(500), b.balance())
		require.Equal(t, "CN-000002 for INV-000001: Too much", b.entries()[2].Description)
		testkit.Refused(t, w, by, billing.CreditInvoice, credit(501), apperr.Conflict)
		testkit.Run(t, w, by, billing.CreditInvoice, credit(500))
		require.Equal(t, int64(1_000), b.balance(), "all of it was credited")
		b.add(t)

		// Callers who may read the invoice may read its credit notes; others may not.
		ids := paging.ByIDs{IDs: []string{inv.ID}}
		notes := testkit.Run(t, w, w.As(w.A, principal.Admin), billing.LookUpCreditNotes, ids)[inv.ID]
		require.Equal(t, []int64{400, 2_000, 500}, []int64{notes[0].Amount, notes[1].Amount, notes[2].Amount})
		require.Empty(t, testkit.Run(t, w, w.As(w.B, principal.Owner), billing.LookUpCreditNotes, ids))
	})
}

// Voiding an invoice gives back its applied credits. An invoice that was written off can still be paid.
func TestVoidAndUncollectible(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, by := open(t, w), operator(t, w.A)
		b.issue(1_000)
		inv := b.change("pro").Invoice
		void := billing.VoidInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reason: "Twice"}
		off := billing.WriteOffInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reason: "Bankrupt"}
		pay := billing.PayInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reference: "Late"}
		require.Equal(t, invoice.StatusVoid, testkit.Run(t, w, by, billing.VoidInvoice, void).Status)
		require.Equal(t, int64(1_000), b.balance())
		require.Equal(t, creditentry.ReasonAdjustment, b.entries()[2].Reason)
		testkit.Refused(t, w, by, billing.VoidInvoice, void, apperr.Conflict)
		testkit.Refused(t, w, by, billing.PayInvoice, pay, apperr.Conflict)
		testkit.Refused(t, w, by, billing.WriteOffInvoice, off, apperr.Conflict)
		b.later(40 * day)
		b.renew()
		next := b.invoices()[1]
		off.ID, pay.ID, void.ID = next.ID, next.ID, next.ID
		require.Equal(t, invoice.StatusUncollectible, testkit.Run(t, w, by, billing.WriteOffInvoice, off).Status)
		b.add(t)
		testkit.Refused(t, w, by, billing.VoidInvoice, void, apperr.Conflict)
		require.Equal(t, invoice.StatusPaid, testkit.Run(t, w, by, billing.PayInvoice, pay).Status)
		b.add(t)
	})
}

// The company cannot see a draft. Once issued, it is an invoice like any other.
func TestDrafts(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, by := open(t, w), operator(t, w.A)
		b.issue(1_000)
		in := billing.DraftInvoiceInput{
			PeriodStart: b.start, PeriodEnd: b.start.Add(365 * day),
			Lines: []billing.Line{{Description: "A year of Enterprise", Amount: 500_000}, {Description: "Training", Amount: 50_000}},
		}
		first, second := testkit.Run(t, w, by, billing.DraftInvoice, in), testkit.Run(t, w, by, billing.DraftInvoice, in)
		require.Equal(t, "DRAFT", billing.Number(first))
		require.Empty(t, b.invoices())
		testkit.Refused(t, w, b.owner, billing.GetInvoice, op.ByID{ID: first.ID}, apperr.NotFound)
		testkit.Refused(t, w, by, billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: first.ID}, Reference: "x"}, apperr.Conflict)
		testkit.Run(t, w, by, billing.VoidInvoice, billing.VoidInvoiceInput{ByID: op.ByID{ID: first.ID}, Reason: "Wrong year"})
		third := testkit.Run(t, w, by, billing.DraftInvoice, in)
		inv := testkit.Run(t, w, by, billing.IssueInvoice, op.ByID{ID: second.ID})
		require.Equal(t, second.ID, inv.ID)
		require.Equal(t, "INV-000001", billing.Number(inv), "drafts use up no number")
		require.Equal(t, []int64{550_000, 1_000, 549_000}, []int64{inv.Subtotal, inv.CreditsApplied, inv.AmountDue})
		testkit.Refused(t, w, by, billing.IssueInvoice, op.ByID{ID: inv.ID}, apperr.Conflict)
		b.change("pro")
		b.later(40 * day)
		testkit.Run(t, w, by, billing.VoidInvoice, billing.VoidInvoiceInput{ByID: op.ByID{ID: third.ID}, Reason: "Not sold"})
		b.renew()
		require.Len(t, b.invoices(), 3, "deleting a draft has made the invoice of the period that has begun meanwhile, once")
		b.add(t)
		for field, spoil := range map[string]func(*billing.DraftInvoiceInput){
			"lines[0].description": func(in *billing.DraftInvoiceInput) { in.Lines = []billing.Line{{Description: " ", Amount: 1}} },
			"lines[0].amount":      func(in *billing.DraftInvoiceInput) { in.Lines = []billing.Line{{Description: "x", Amount: 0}} },
			"lines":                func(in *billing.DraftInvoiceInput) { in.Lines = nil },
			"periodEnd":            func(in *billing.DraftInvoiceInput) { in.PeriodEnd = in.PeriodStart },
		} {
			bad := in
			spoil(&bad)
			_, _, err := op.Run(by, w.Engine, billing.DraftInvoice, bad, nil)
			require.Equal(t, field, apperr.From(err).Details[0].Field, "%v", err)
		}
		b.add(t)
	})
}

// When many callers issue one draft at the same time, there is one invoice, and the credits are applied once.
func TestOneOfManyIssues(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, by := open(t, w), operator(t, w.A)
		b.issue(1_000)
		draft := testkit.Run(t, w, by, billing.DraftInvoice, billing.DraftInvoiceInput{
			PeriodStart: b.start, PeriodEnd: b.start.Add(day), Lines: []billing.Line{{Description: "Training", Amount: 1_500}},
		})
		var wg sync.WaitGroup
		var issued atomic.Int64
		for range 64 {
			wg.Go(func() {
				if _, _, err := op.Run(by, w.Engine, billing.IssueInvoice, op.ByID{ID: draft.ID}, nil); err == nil {
					issued.Add(1)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int64(1), issued.Load())
		require.Len(t, b.invoices(), 1)
		require.Equal(t, int64(500), b.invoices()[0].AmountDue)
		require.Len(t, b.entries(), 2)
		b.add(t)
	})
}

// No role of a company may run the operator's operations.
func TestOperatorsMatters(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	b := open(t, w)
	inv := b.change("pro").Invoice
	one := op.ByID{ID: inv.ID}
	for _, role := range []principal.Role{principal.Owner, principal.Admin, principal.Agent, principal.Member} {
		as := w.As(w.A, role)
		testkit.Refused(t, w, as, billing.PayInvoice, billing.PayInvoiceInput{ByID: one, Reference: "x"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.VoidInvoice, billing.VoidInvoiceInput{ByID: one, Reason: "x"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.WriteOffInvoice, billing.WriteOffInvoiceInput{ByID: one, Reason: "x"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.CreditInvoice, billing.CreditInvoiceInput{ByID: one, Amount: 1, Description: "x"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.IssueInvoice, one, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.SetPaymentMethod, billing.SetPaymentMethodInput{Customer: "c", PaymentMethod: "m"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.BeginPayment, billing.BeginPaymentInput{InvoiceID: inv.ID}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.SettlePayment, billing.SettlePaymentInput{PaymentID: "pay_1", Status: "succeeded"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.RecheckPayment, billing.RecheckPaymentInput{PaymentID: "pay_1"}, apperr.Forbidden)
		testkit.Refused(t, w, as, billing.DraftInvoice, billing.DraftInvoiceInput{
			Lines: []billing.Line{{Description: "x", Amount: 1}}, PeriodStart: b.start, PeriodEnd: b.start.Add(time.Hour),
		}, apperr.Forbidden)
	}
	testkit.Refused(t, w, operator(t, w.B), billing.VoidInvoice, billing.VoidInvoiceInput{ByID: one, Reason: "x"}, apperr.NotFound)
}

// The preview shows the limits of the other plan, and how much of them is in use.
func TestPreviewNamesTheLimits(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b := open(t, w)
		b.change("growth")
		limits := func(plan string) map[string]*billing.LimitChange {
			out := map[string]*billing.LimitChange{}
			for _, l := range testkit.Run(t, w, b.owner, billing.PreviewPlanChange, billing.PlanInput{Plan: plan}).Limits {
				out[l.Name] = l
			}
			return out
		}
		got := limits("pro")
		require.Equal(t, billing.LimitChange{Name: "callsPerMinute", Now: 300, Then: 60}, *got["callsPerMinute"])
		require.Equal(t, billing.LimitChange{Name: "callsPerDay", Now: 200_000, Then: 10_000}, *got["callsPerDay"])
		require.False(t, got["invitationsPerDay"].Exceeded)
		b.invited(21)
		got = limits("pro")
		require.Equal(t, 21, *got["invitationsPerDay"].Used)
		require.True(t, got["invitationsPerDay"].Exceeded)
		require.False(t, limits("starter")["invitationsPerDay"].Exceeded)
	})
}
