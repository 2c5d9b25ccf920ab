package billing_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/ent/payment"
	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// run runs the job once, as it runs each minute.
func (b *books) run(p billing.Provider) error {
	return billing.RunJob(context.Background(), b.w.Engine, p)
}

// card sets the company's payment method.
func (b *books) card(method string) {
	testkit.Run(b.T, b.w, operator(b.T, b.w.A), billing.SetPaymentMethod, billing.SetPaymentMethodInput{Customer: "cus_1", PaymentMethod: method})
}

func (b *books) payments() []*ent.Payment {
	out, err := b.w.Store.Reader().Payment.Query().Order(payment.ByCreatedAt(), payment.ByAttempt()).All(b.owner)
	require.NoError(b, err)
	return out
}

// letters records the mails to a test's company.
type letters struct {
	op.Mailer
	mu   sync.Mutex
	sent []string
}

func (l *letters) Write(_ context.Context, _ *store.Tx, u *ent.User, subject locale.Text, paragraphs ...locale.Text) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := locale.Printer{}
	l.sent = append(l.sent, u.Email+": "+p.T(subject)+": "+p.T(paragraphs[0]))
	return nil
}

// Only the amount that credits do not cover is charged, and only once.
func TestTheRemainderIsCharged(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank := open(t, w), newBank()
		b.card("pm_1")
		b.issue(1_000)
		inv := b.change("pro").Invoice
		require.NotNil(t, inv.NextChargeAt)
		require.NoError(t, b.run(bank))
		require.NoError(t, b.run(bank))
		require.Equal(t, 1, bank.asked)
		p := b.payments()[0]
		require.Equal(t, billing.Charge{
			Company: w.A.Company.ID, Invoice: inv.ID, Payment: p.ID, Number: "INV-000001", Amount: 1_900, Currency: "usd", Customer: "cus_1", Method: "pm_1",
		}, bank.charge[p.ID])
		require.Equal(t, payment.StatusSucceeded, p.Status)
		paid := b.invoices()[0]
		require.Equal(t, invoice.StatusPaid, paid.Status)
		require.Nil(t, paid.NextChargeAt)
		b.issue(10_000)
		b.later(32 * day)
		require.NoError(t, b.run(bank))
		require.Equal(t, invoice.StatusPaid, b.invoices()[1].Status)
		require.Equal(t, 1, bank.asked, "the credits cover it")
		b.add(t)
	})
}

// A refused card is retried by the schedule, and the owners get a mail each time. A new card is tried at once.
func TestFailedChargesAreRetriedAndDunned(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank, mails := open(t, w), newBank(), &letters{}
		w.Engine.Mailer = mails
		b.card("pm_1")
		bank.does = refuses
		b.change("pro")
		at := time.Duration(0)
		for i, wait := range append(billing.Dunning, 30*24*time.Hour) {
			require.NoError(t, b.run(bank))
			require.Equal(t, i+1, bank.asked)
			require.Len(t, mails.sent, i+1)
			if i == len(billing.Dunning) {
				break // after 30 days there is another invoice
			}
			b.later(at + wait - time.Hour)
			require.NoError(t, b.run(bank))
			require.Equal(t, i+1, bank.asked, "not before its time")
			at += wait + time.Minute
			b.later(at)
		}
		require.Contains(t, mails.sent[0], "Payment of invoice INV-000001 failed: The charge of USD 29.00 for invoice INV-000001")
		require.Contains(t, mails.sent[0], "It will be tried again on ")
		require.Contains(t, mails.sent[len(billing.Dunning)], "It will not be tried again.")
		require.Nil(t, b.invoices()[0].NextChargeAt)
		require.Equal(t, invoice.StatusOpen, b.invoices()[0].Status)
		bank.does = takes
		b.card("pm_2")
		require.NoError(t, b.run(bank))
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		require.Len(t, bank.charge, 1)
		b.add(t)
	})
}

// Whatever fails between the start of a charge and its record, the bank takes the money once.
func TestNothingIsChargedTwice(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank := open(t, w), newBank()
		b.card("pm_1")
		inv := b.change("pro").Invoice
		bank.does = isDown
		require.Error(t, b.run(bank))
		p := b.payments()[0]
		require.Equal(t, payment.StatusPending, p.Status, "written down before the bank was asked")
		by := operator(t, w.A)
		testkit.Refused(t, w, by, billing.PayInvoice, billing.PayInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reference: "x"}, apperr.Conflict)
		testkit.Refused(t, w, by, billing.VoidInvoice, billing.VoidInvoiceInput{ByID: op.ByID{ID: inv.ID}, Reason: "x"}, apperr.Conflict)
		testkit.Refused(t, w, by, billing.CreditInvoice, billing.CreditInvoiceInput{ByID: op.ByID{ID: inv.ID}, Amount: 1, Description: "x"}, apperr.Conflict)
		bank.does = dropsLine
		b.later(billing.ChargeAgainAfter + time.Minute)
		require.Error(t, b.run(bank), "the money is taken, and nobody knows")
		b.card("pm_2") // does not affect a charge in progress
		asked := bank.asked
		require.NoError(t, b.run(bank))
		require.Equal(t, asked, bank.asked, "the bank is asked what it knows, and not for the money")
		require.Len(t, bank.charge, 1)
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		require.Len(t, b.payments(), 1)
		b.add(t)
	})
}

// A run of the job that has read the invoice before another run charged it does not charge again. A card that is set while the old
// one is being charged is tried at once when that fails.
func TestChargesWaitForTheirTime(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank := open(t, w), newBank()
		w.Engine.Mailer = &letters{}
		b.card("pm_1")
		inv := b.change("pro").Invoice
		bank.does = refuses
		require.NoError(t, b.run(bank))
		worker := principal.With(t.Context(), principal.Worker(w.A.Company.ID, "billing"))
		begun := testkit.Run(t, w, worker, billing.BeginPayment, billing.BeginPaymentInput{InvoiceID: inv.ID})
		require.Nil(t, begun.Payment, "the next attempt is tomorrow")
		require.Len(t, b.payments(), 1)

		bank.does = ponders
		b.later(2 * day)
		require.NoError(t, b.run(bank))
		b.card("pm_2")
		bank.decide(b.payments()[1].ID, billing.Outcome{Status: payment.StatusFailed, Reference: "ref"})
		require.NoError(t, b.run(bank))
		bank.does = takes
		require.NoError(t, b.run(bank))
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		require.Equal(t, "pm_2", b.payments()[2].PaymentMethod)
		b.add(t)
	})
}

// Many workers that charge one invoice at the same time charge it once.
func TestManyChargesOfOneInvoice(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank := open(t, w), newBank()
		b.card("pm_1")
		b.change("pro")
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() { _ = b.run(bank) })
		}
		wg.Wait()
		require.NoError(t, b.run(bank))
		require.Len(t, bank.charge, 1)
		require.Len(t, b.payments(), 1)
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		b.add(t)
	})
}

// A provider's message only triggers a check. An early, late or repeated one, or one of another company's payment, changes nothing.
func TestMessagesOfTheProvider(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		b, bank := open(t, w), newBank()
		b.card("pm_1")
		b.change("pro")
		bank.does = ponders
		require.NoError(t, b.run(bank))
		p := b.payments()[0]
		tell := func(f *testkit.Tenant) apperr.Code {
			worker := principal.With(t.Context(), principal.Worker(f.Company.ID, "payments"))
			_, _, err := op.Run(worker, w.Engine, billing.RecheckPayment, billing.RecheckPaymentInput{PaymentID: p.ID}, nil)
			return codeOf(err)
		}
		require.Empty(t, tell(w.A))
		require.NoError(t, b.run(bank))
		require.Equal(t, payment.StatusPending, b.payments()[0].Status, "it still ponders")
		require.Equal(t, apperr.NotFound, tell(w.B))
		bank.decide(p.ID, billing.Outcome{Status: payment.StatusSucceeded, Reference: "ref"})
		require.Empty(t, tell(w.A))
		require.Empty(t, tell(w.A))
		require.NoError(t, b.run(bank))
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		bank.decide(p.ID, billing.Outcome{Status: payment.StatusFailed, Reference: "ref"})
		require.Empty(t, tell(w.A))
		require.NoError(t, b.run(bank))
		require.Equal(t, invoice.StatusPaid, b.invoices()[0].Status)
		require.Nil(t, b.invoices()[0].NextChargeAt)
		require.Equal(t, 1, bank.asked)
		b.add(t)
	})
}
