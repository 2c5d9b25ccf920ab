package stripe_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/stripe/stripe-go/v85/webhook"

	"atrium/ent"
	"atrium/ent/invoice"
	"atrium/ent/payment"
	"atrium/internal/billing/stripe"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const secret = "whsec_test"

// Only webhooks signed by Stripe count, and they only trigger a check.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var inv *ent.Invoice
		pays := map[payment.Status]*ent.Payment{}
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) (err error) {
			inv, err = tx.Invoice.Create().SetNumber(1).SetStatus(invoice.StatusOpen).SetPeriodStart(time.Now()).SetPeriodEnd(time.Now()).
				SetLines([]byte("[]")).SetSubtotal(1).SetCreditsApplied(0).SetAmountDue(1).SetCurrency("usd").Save(ctx)
			for i, s := range []payment.Status{payment.StatusFailed, payment.StatusPending} {
				if err == nil {
					pays[s], err = tx.Payment.Create().SetInvoiceID(inv.ID).SetAttempt(i + 1).SetAmount(1).SetCustomer("c").SetPaymentMethod("m").SetStatus(s).Save(ctx)
				}
			}
			return err
		}))
		h := stripe.Handler(w.Engine, secret, slog.New(slog.DiscardHandler))
		send := func(key string, at time.Time, body string) int {
			signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: []byte(body), Secret: key, Timestamp: at})
			r := httptest.NewRequest(http.MethodPost, stripe.Path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
			r.Header.Set("Stripe-Signature", signed.Header)
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			return rec.Code
		}
		event := func(kind, company, id string) string {
			return fmt.Sprintf(`{"id":"evt_1","object":"event","api_version":"2020-01-01","type":%q,"data":{"object":{"metadata":{"company":%q,"payment":%q}}}}`, kind, company, id)
		}
		looked := func() bool {
			row, err := w.Store.Reader().Invoice.Get(w.As(w.A, principal.Owner), inv.ID)
			require.NoError(t, err)
			return row.NextChargeAt != nil
		}
		co, pending := w.A.Company.ID, pays[payment.StatusPending].ID
		good := event("payment_intent.succeeded", co, pending)
		require.Equal(t, 400, send("whsec_other", time.Now(), good))
		require.Equal(t, 400, send(secret, time.Now().Add(-time.Hour), good), "repeated by somebody else")
		for name, body := range map[string]string{
			"another kind":      event("customer.created", co, pending),
			"a settled payment": event("payment_intent.succeeded", co, pays[payment.StatusFailed].ID),
			"another company's": event("payment_intent.succeeded", w.B.Company.ID, pending),
			"no such company":   event("payment_intent.succeeded", "co_none", pending),
			"no company":        event("payment_intent.succeeded", "*", pending),
			"no such payment":   event("payment_intent.succeeded", co, "pay_none"),
			"without metadata":  `{"id":"evt_1","object":"event","type":"payment_intent.succeeded","data":{"object":{}}}`,
			"without data":      `{"id":"evt_1","object":"event","type":"payment_intent.succeeded"}`,
		} {
			require.Equal(t, 204, send(secret, time.Now(), body), name)
			require.False(t, looked(), name)
		}
		require.Equal(t, 204, send(secret, time.Now(), good))
		require.True(t, looked())
		require.Equal(t, 204, send(secret, time.Now(), event("payment_intent.payment_failed", co, pending)))
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, stripe.Path, nil))
		require.Equal(t, 405, rec.Code)
	})
}
