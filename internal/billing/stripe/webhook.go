package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/stripe/stripe-go/v85/webhook"

	"atrium/internal/apperr"
	"atrium/internal/billing"
	"atrium/internal/gate"
	"atrium/internal/op"
)

// maxBody bounds a webhook, in bytes.
const maxBody = 1 << 20

// Path is where Stripe sends its webhooks.
const Path = "/stripe/webhook"

// Handler takes webhooks that are signed with the secret. One about a payment has the payment looked at by the next run of the
// job: what it says of it is not read, so that it may come late, twice and in any order. Everything else is answered and ignored.
func Handler(e *op.Engine, secret string, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			gate.Fail(log, w, r, apperr.New(apperr.MethodNotAllowed, "Use POST."))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			gate.Fail(log, w, r, apperr.New(apperr.PayloadTooLarge, "The body is too large, or did not come whole."))
			return
		}
		event, err := webhook.ConstructEventWithOptions(body, r.Header.Get("Stripe-Signature"), secret, webhook.ConstructEventOptions{
			IgnoreAPIVersionMismatch: true, // only the metadata is read
		})
		if err != nil {
			gate.Fail(log, w, r, apperr.New(apperr.Validation, "The signature is missing, wrong or too old."))
			return
		}
		var about struct {
			Metadata map[string]string `json:"metadata"`
		}
		if !strings.HasPrefix(string(event.Type), "payment_intent.") || event.Data == nil || json.Unmarshal(event.Data.Raw, &about) != nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err := recheck(r.Context(), e, about.Metadata[metaCompany], about.Metadata[metaPayment]); err != nil {
			gate.Fail(log, w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// recheck has a payment looked at. One that there is not is somebody else's on the same Stripe account.
func recheck(ctx context.Context, e *op.Engine, company, id string) error {
	if !strings.HasPrefix(company, "co_") || id == "" {
		return nil
	}
	err := e.Work(ctx, company, "stripe", func(ctx context.Context, tx *op.Tx) error {
		_, err := op.RunIn(ctx, tx, billing.RecheckPayment, billing.RecheckPaymentInput{PaymentID: id})
		return err
	})
	if e, ok := errors.AsType[*apperr.Error](err); ok && e.Code == apperr.NotFound {
		return nil
	}
	return err
}
