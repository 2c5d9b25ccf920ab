package stripe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/stripe/stripe-go/v85/webhook"

	"atrium/internal/billing"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Path is the route of Stripe's webhooks.
const Path = "/stripe/webhook"

// Handler receives webhooks that are signed with the secret. A webhook about a payment makes the next run of the job check that
// payment. Its content is not used otherwise, so webhooks may come late, twice and in any order. Other events are acknowledged
// and ignored.
func Handler(e *op.Engine, secret string, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			gate.Fail(log, w, r, apperr.New(apperr.MethodNotAllowed, "Use POST."))
			return
		}
		body, err := gate.ReadBody(w, r)
		if err != nil {
			gate.Fail(log, w, r, err)
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

// recheck requests a check of a payment. It ignores an unknown payment, which belongs to another use of the same Stripe account.
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
