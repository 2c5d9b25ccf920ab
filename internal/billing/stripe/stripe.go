package stripe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v85"

	"atrium/ent/payment"
	"atrium/internal/billing"
)

// timeout is the limit for one call.
const timeout = 20 * time.Second

// mostListed is the maximum number of a customer's payments that Find searches.
const mostListed = 1_000

// The metadata by which a payment is found at Stripe.
const (
	metaCompany = "company"
	metaInvoice = "invoice"
	metaPayment = "payment"
)

// Provider charges through Stripe. Safe for concurrent use.
type Provider struct{ client *stripe.Client }

var _ billing.Provider = (*Provider)(nil)

// New returns a provider with a secret key. url replaces the URL of Stripe's API unless it is empty.
func New(key, url string) *Provider {
	c := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: timeout},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // it would log addresses and responses; errors are returned
		MaxNetworkRetries: stripe.Int64(1),
		EnableTelemetry:   stripe.Bool(false),
	}
	if url != "" {
		c.URL = stripe.String(url)
	}
	return &Provider{client: stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(c)))}
}

// Charge creates and confirms a payment intent in one call, off-session. The payment's id is the idempotency key.
func (p *Provider) Charge(ctx context.Context, c billing.Charge) (billing.Outcome, error) {
	params := &stripe.PaymentIntentCreateParams{
		Amount: stripe.Int64(c.Amount), Currency: stripe.String(c.Currency), Customer: stripe.String(c.Customer), PaymentMethod: stripe.String(c.Method),
		Confirm: stripe.Bool(true), OffSession: stripe.Bool(true), ErrorOnRequiresAction: stripe.Bool(true),
		AutomaticPaymentMethods: &stripe.PaymentIntentCreateAutomaticPaymentMethodsParams{
			Enabled: stripe.Bool(true), AllowRedirects: stripe.String("never"),
		},
		Description: stripe.String("Invoice " + c.Number),
		Metadata:    map[string]string{metaCompany: c.Company, metaInvoice: c.Invoice, metaPayment: c.Payment},
	}
	params.SetIdempotencyKey(c.Payment)
	intent, err := p.client.V1PaymentIntents.Create(ctx, params)
	if err == nil {
		return p.outcome(ctx, intent)
	}
	refusal, ok := errors.AsType[*stripe.Error](err)
	switch {
	case ok && refusal.Type == stripe.ErrorTypeCard && refusal.PaymentIntent != nil:
		if refusal.PaymentIntent.LastPaymentError == nil {
			refusal.PaymentIntent.LastPaymentError = refusal
		}
		return p.outcome(ctx, refusal.PaymentIntent)
	case ok && refusal.Type == stripe.ErrorTypeCard, // no intent was created
		ok && refusal.Type == stripe.ErrorTypeInvalidRequest && (refusal.Code == stripe.ErrorCodeAmountTooSmall ||
			refusal.Param == "customer" || refusal.Param == "payment_method"):
		return billing.Outcome{Status: payment.StatusFailed, Failure: codeOf(refusal)}, nil
	}
	return billing.Outcome{}, fmt.Errorf("make a payment intent: %w", public(err))
}

// Find searches the customer's intents, newest first, for the payment. Unlike an idempotency key, which Stripe keeps for a day,
// metadata does not expire. Returns an error if the newest 1,000 intents do not contain the payment.
func (p *Provider) Find(ctx context.Context, c billing.Charge) (billing.Outcome, bool, error) {
	params := &stripe.PaymentIntentListParams{Customer: stripe.String(c.Customer)}
	params.Limit = stripe.Int64(100)
	seen := 0
	for intent, err := range p.client.V1PaymentIntents.List(ctx, params).All(ctx) {
		if err != nil {
			return billing.Outcome{}, false, fmt.Errorf("list payment intents: %w", public(err))
		}
		if intent.Metadata[metaPayment] == c.Payment {
			out, err := p.outcome(ctx, intent)
			return out, err == nil, err
		}
		if seen++; seen == mostListed {
			return billing.Outcome{}, false, fmt.Errorf("the newest %d payments of the customer do not tell", mostListed)
		}
	}
	return billing.Outcome{}, false, nil
}

// outcome returns the outcome of an intent. It cancels an intent that waits for the customer, so that a payment recorded as failed
// cannot succeed later.
func (p *Provider) outcome(ctx context.Context, intent *stripe.PaymentIntent) (billing.Outcome, error) {
	out := billing.Outcome{Reference: intent.ID}
	switch intent.Status {
	case stripe.PaymentIntentStatusSucceeded:
		out.Status = payment.StatusSucceeded
		return out, nil
	case stripe.PaymentIntentStatusProcessing:
		out.Status = payment.StatusPending
		return out, nil
	case stripe.PaymentIntentStatusCanceled:
	default:
		if _, err := p.client.V1PaymentIntents.Cancel(ctx, intent.ID, &stripe.PaymentIntentCancelParams{}); err != nil {
			return billing.Outcome{}, fmt.Errorf("cancel a payment intent: %w", public(err))
		}
	}
	out.Status, out.Failure = payment.StatusFailed, "canceled"
	if intent.LastPaymentError != nil {
		out.Failure = codeOf(intent.LastPaymentError)
	}
	return out, nil
}

// codeOf returns the most specific code of an error.
func codeOf(e *stripe.Error) string {
	switch {
	case e.DeclineCode != "":
		return string(e.DeclineCode)
	case e.Code != "":
		return string(e.Code)
	}
	return string(e.Type)
}

// public returns an error that can be logged. Stripe's own errors quote the request and may contain client secrets.
func public(err error) error {
	if e, ok := errors.AsType[*stripe.Error](err); ok {
		return fmt.Errorf("stripe answered %d %s %s (request %s)", e.HTTPStatusCode, e.Type, e.Code, e.RequestID)
	}
	if e, ok := errors.AsType[net.Error](err); ok {
		return fmt.Errorf("stripe cannot be reached (timeout: %t)", e.Timeout())
	}
	return errors.New("stripe gave an answer that cannot be read")
}
