package inbound

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"time"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
	"atrium/internal/workflow/execution"
)

// The limits of one webhook, on each node or, with Redis, on all nodes together. They protect what all companies share, so every
// plan has the same.
var (
	callLimit    = ratelimit.Limit{PerMinute: 12_000, PerDay: 5_000_000}
	refusalLimit = ratelimit.Limit{PerMinute: 60, PerDay: 10_000} // audit entries of calls with a wrong signature
	unreadLimit  = ratelimit.Limit{PerMinute: 10, PerDay: 100}    // history of calls that are too large; far fewer than keptCalls
)

// Door receives the calls of inbound webhooks. Safe for concurrent use.
type Door struct {
	engine  *op.Engine
	limiter ratelimit.Limiter
	bytes   *ratelimit.Bytes
	log     *slog.Logger
	topics  topics
	now     func() time.Time // the machine's clock, because senders sign with theirs
	nobody  *ent.InboundWebhook
}

// NewDoor returns a door. The limiter counts the calls of each webhook, and the bytes of its company. Through outside the certificates of
// Amazon SNS are fetched, and its subscriptions confirmed; nil leaves its calls unavailable.
func NewDoor(engine *op.Engine, limiter ratelimit.Limiter, outside Outside, log *slog.Logger) (*Door, error) {
	d := &Door{engine: engine, limiter: limiter, bytes: ratelimit.NewBytes(limiter), topics: newTopics(outside, limiter), log: log, now: time.Now}
	// A call to a webhook that does not exist is verified against this one, whose secret is random.
	d.nobody = &ent.InboundWebhook{ID: "whi_" + rand.Text(), SignatureStyle: inboundwebhook.DefaultSignatureStyle, VerifySignature: true}
	sealed, err := signing.Seal(engine.Sealer, signing.New(), d.nobody.ID)
	if err != nil {
		return nil, err
	}
	d.nobody.SecretSealed = sealed
	return d, nil
}

// Call is a call that was received.
type Call struct {
	WebhookID string
	Header    http.Header
	Body      []byte // the bytes that were sent
	IP        netip.Addr
	UserAgent string
	RequestID string
}

// Accepted is the answer to a call that has started a workflow, or repeats a call that has.
type Accepted struct {
	Status      string `json:"status" doc:"accepted; or ignored for a call that starts nothing." example:"accepted"`
	WebhookID   string `json:"webhookId" example:"whi_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID string `json:"executionId" nullable:"true" doc:"The execution, to follow it at /v1/executions; null for an ignored call." example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func errNotFound() error { return apperr.New(apperr.NotFound, "There is no such webhook.") }

// Take returns the answer to a call, Accepted, Ignored, Challenge or Said, once everything that it needs is committed. Returns not_found for a
// webhook that does not exist or is disabled, unauthorized for a missing or wrong signature, rate_limit_exceeded,
// unsupported_media_type and validation_error for a body that is not JSON, and conflict for a workflow that is not active.
func (d *Door) Take(ctx context.Context, c Call) (any, error) {
	ctx = clock.With(ctx, d.engine.Store.Clock())
	w, err := d.look(ctx, c.WebhookID)
	if err != nil {
		return nil, err
	}
	genuine, err := d.verify(ctx, w, c)
	switch {
	case err != nil:
		return nil, err
	case w == d.nobody || !w.Enabled:
		return nil, errNotFound()
	}
	ctx = as(ctx, w, c)
	if !genuine && w.VerifySignature {
		d.refuse(ctx, w)
		return nil, apperr.New(apperr.Unauthorized, "The signature is missing or wrong.")
	}
	if err := d.count(ctx, w, len(c.Body)); err != nil {
		return nil, err
	}
	leave, err := gate.TakePlace(ctx, w.CompanyID, len(c.Body))
	if err != nil {
		return nil, err
	}
	defer leave()
	return d.start(ctx, w, c, genuine)
}

// Unread records in the history that a call's body, of so many bytes if that is known, was too large to be read, and returns the
// refusal. Nobody knows who sent it, because a signature is over the whole body: only unreadLimit of them are recorded, so that they
// cannot push the sender's own calls out of the history.
func (d *Door) Unread(ctx context.Context, c Call, bytes int64, refusal error) error {
	ctx = clock.With(ctx, d.engine.Store.Clock())
	w, err := d.look(ctx, c.WebhookID)
	if err != nil { // the call is refused all the same
		d.log.ErrorContext(ctx, "a refused call was not noted", "error", err, "webhook", c.WebhookID)
	}
	if err != nil || w == d.nobody || !w.Enabled {
		return refusal
	}
	res, err := d.limiter.Take(ctx, "unread/"+w.ID, unreadLimit, d.engine.Store.Clock().Now())
	if err != nil || !res.Allowed {
		return refusal
	}
	_, shown := headersOf(w, c.Header)
	return d.reject(as(ctx, w, c), ReceiveInput{ByID: op.ByID{ID: w.ID}, Headers: shown, Bytes: int(min(max(bytes, 0), math.MaxInt32))}, refusal)
}

// as returns a context in which the webhook is the caller.
func as(ctx context.Context, w *ent.InboundWebhook, c Call) context.Context {
	who := principal.WorkerAs(w.CompanyID, w.ID, "inbound webhook "+w.Name)
	who.IP, who.UserAgent, who.RequestID = c.IP, c.UserAgent, c.RequestID
	return principal.With(ctx, who)
}

// look returns the webhook, or d.nobody if there is none.
func (d *Door) look(ctx context.Context, id string) (*ent.InboundWebhook, error) {
	if !input.Storable(id) {
		id = "" // no row has such an id, and databases refuse it
	}
	ctx = principal.System(ctx, "a webhook says which company its caller calls; before that there is none")
	w, err := d.engine.Store.Reader().InboundWebhook.Query().Where(inboundwebhook.ID(id)).Only(ctx)
	if ent.IsNotFound(err) {
		return d.nobody, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look the webhook up: %w", err)
	}
	return w, nil
}

// verify reports whether the call is proven by the webhook's secret. It does the same work for all webhooks but those of Amazon SNS,
// whose messages have certificates.
func (d *Door) verify(ctx context.Context, w *ent.InboundWebhook, c Call) (bool, error) {
	secrets, err := signing.Open(d.engine.Sealer, w.ID, d.engine.Store.Clock().Now(), w.SecretSealed, w.PreviousSealed, w.PreviousUntil)
	if err != nil {
		return false, err
	}
	proven := verified(styleOf(w.SignatureStyle, settingsOf(w)), secrets, c.Header, c.Body, d.now())
	if w.SignatureStyle == inboundwebhook.SignatureStyleSns && w.Enabled {
		return d.topics.verified(ctx, w, c.Body, d.now())
	}
	return proven, nil
}

// refuse writes the audit entry of a call with a wrong signature, within refusalLimit.
func (d *Door) refuse(ctx context.Context, w *ent.InboundWebhook) {
	who, _ := principal.From(ctx)
	res, err := d.limiter.Take(ctx, "refused/"+w.ID, refusalLimit, d.engine.Store.Clock().Now())
	if err == nil && !res.Allowed {
		return
	}
	err = d.engine.Store.WriteDetached(ctx, func(ctx context.Context, tx *store.Tx) error {
		e := audit.By(who)
		e.Action, e.Resource, e.ResourceID, e.Outcome = "inboundwebhook.called", "InboundWebhook", w.ID, auditentry.OutcomeDenied
		return audit.Write(ctx, tx.Client, e)
	})
	if err != nil { // the call is refused all the same
		d.log.ErrorContext(ctx, "audit entry of a refused call was not written", "error", err, "webhook", w.ID)
	}
}

// count counts a call of so many bytes against the limits of the webhook and of its company. Returns rate_limit_exceeded or
// unavailable.
func (d *Door) count(ctx context.Context, w *ent.InboundWebhook, bytes int) error {
	res, err := d.limiter.Take(ctx, "inbound/"+w.ID, callLimit, d.engine.Store.Clock().Now())
	if err != nil {
		return apperr.Wrap(err, apperr.Unavailable, "The service cannot count calls at the moment. Try again shortly.")
	}
	if !res.Allowed {
		e := apperr.New(apperr.RateLimited, "Too many calls of this webhook. Try again in %d seconds.", res.RetryAfterSeconds())
		e.RetryAfter = res.RetryAfterSeconds()
		return e
	}
	return gate.BytesTaken(d.bytes.Take(ctx, w.CompanyID, bytes, d.engine.Store.Clock().Now(), func(ctx context.Context) (ratelimit.Limit, error) {
		c, err := d.engine.Store.Reader().Company.Get(ctx, w.CompanyID)
		if err != nil {
			return ratelimit.Limit{}, fmt.Errorf("read the webhook's company: %w", err)
		}
		return ratelimit.OfCompany(c), nil
	}))
}

// start runs the operation of a call whose signature was verified, if it starts something. It records a rejected or ignored call in
// the history.
func (d *Door) start(ctx context.Context, w *ent.InboundWebhook, c Call, genuine bool) (any, error) {
	kept, shown := headersOf(w, c.Header)
	m, err := secret.Mask(ctx, d.engine.Store.Reader(), d.engine.Sealer) // an execution stores its call without secrets, and so does the history
	if err != nil {
		return nil, err
	}
	hideIn(m, shown)
	in := ReceiveInput{ByID: op.ByID{ID: w.ID}, Headers: shown, Body: seen(m, c.Body, keptBody), Bytes: len(c.Body)}
	if err := checkType(w.SignatureStyle, c.Header); err != nil {
		return nil, d.reject(ctx, in, err)
	}
	body, err := decode(w.SignatureStyle, sendsForm(w.SignatureStyle, c.Header), c.Body)
	if err != nil {
		return nil, d.reject(ctx, in, err)
	}
	in.Body, in.Bytes = seen(m, body.sent, keptBody), len(body.sent)
	reason, answer := greeting(w.SignatureStyle, eventOf(c.Header), body.value)
	if reason == "" {
		if in.Key, err = keyOf(w.SignatureStyle, c.Header, body.value); err != nil {
			return nil, d.reject(ctx, in, err)
		}
		now := d.engine.Store.Clock().Now()
		if in.Webhook, err = (called{Body: body.text, Headers: kept, Method: method}).at(now); err != nil {
			return nil, err
		}
		turn := func(ctx context.Context, work func(context.Context) error) error {
			return d.engine.Costly(ctx, w.CompanyID, work)
		}
		if reason, err = unmet(ctx, w, variable(body.value, kept, now.UTC().Format(clock.Format)), turn); err != nil {
			return nil, err
		}
	} else if genuine && textAt(body.value, []string{"Type"}) == "SubscriptionConfirmation" && w.SignatureStyle == inboundwebhook.SignatureStyleSns {
		reason = d.topics.confirm(ctx, c.Body)
	}
	if reason != "" {
		in.Body = seen(m, body.sent, keptIgnored)
	}
	out, err := d.settle(ctx, w, in, reason, body)
	if answer != nil && err == nil {
		return answer, nil
	}
	return out, err
}

// settle starts the workflow, or records why nothing starts, and returns the answer.
func (d *Door) settle(ctx context.Context, w *ent.InboundWebhook, in ReceiveInput, reason string, body content) (any, error) {
	started := ""
	if reason != "" {
		first, err := d.ignore(ctx, in, reason)
		if err != nil {
			return nil, err
		}
		started = first
	} else {
		out, _, err := op.Run(ctx, d.engine, Receive, in, nil)
		switch {
		case err == nil:
		case apperr.CodeOf(err) == apperr.Conflict:
			return nil, d.reject(ctx, in, err)
		case apperr.CodeOf(err) == apperr.NotFound:
			return nil, errNotFound() // it was disabled or deleted meanwhile
		default:
			return nil, err
		}
		started = out.ExecutionID
	}
	switch {
	case isCommand(w.SignatureStyle, body.value):
		return d.told(ctx, w, started != ""), nil
	case started == "":
		return ignored(w), nil
	}
	return Accepted{Status: "accepted", WebhookID: w.ID, ExecutionID: started}, nil
}

// ignore records in the history why a call starts nothing. It returns the execution that an earlier call with the same key has
// started: that one gets its first answer again, whatever the condition says today.
func (d *Door) ignore(ctx context.Context, in ReceiveInput, reason string) (first string, err error) {
	who, _ := principal.From(ctx)
	err = d.engine.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) error {
		row := in.note(tx).SetOutcome(inboundcall.OutcomeIGNORED).SetReason(clip([]byte(reason), maxReason))
		if in.Key != nil {
			if first, err = execution.Repeated(ctx, tx, in.ID, *in.Key); err != nil {
				return err
			}
		}
		if first != "" {
			row = in.note(tx).SetOutcome(inboundcall.OutcomeDUPLICATE).SetExecutionID(first)
		}
		return row.Exec(ctx)
	})
	if err != nil {
		return "", fmt.Errorf("note the ignored call: %w", err)
	}
	return first, nil
}

// reject records in the history why a verified call was rejected, and returns the reason.
func (d *Door) reject(ctx context.Context, in ReceiveInput, refusal error) error {
	e := apperr.From(refusal)
	reason := e.Message
	for _, detail := range e.Details {
		reason += " " + detail.Field + ": " + detail.Message
	}
	who, _ := principal.From(ctx)
	err := d.engine.WorkAs(ctx, who, func(ctx context.Context, tx *op.Tx) error {
		return in.note(tx).SetOutcome(inboundcall.OutcomeREJECTED).SetReason(clip([]byte(reason), maxReason)).Exec(ctx)
	})
	if err != nil { // the call is refused all the same
		d.log.ErrorContext(ctx, "a refused call was not noted", "error", err, "webhook", in.ID)
	}
	return refusal
}

// maxReason is the maximum length of a rejection's reason in the history, in bytes.
const maxReason = 500
