package inbound

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/inboundcall"
	"atrium/ent/inboundwebhook"
	"atrium/internal/apperr"
	"atrium/internal/audit"
	"atrium/internal/clock"
	"atrium/internal/input"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/ratelimit"
	"atrium/internal/store"
	"atrium/internal/strictjson"
)

// The limits of one webhook, on each node or, where there is Redis, on all of them together. They keep one sender from taking
// what all companies share; no plan has others.
var (
	callLimit    = ratelimit.Limit{PerMinute: 12_000, PerDay: 5_000_000}
	refusalLimit = ratelimit.Limit{PerMinute: 60, PerDay: 10_000} // audit entries of calls with a wrong signature
)

// Door takes the calls of inbound webhooks. Safe for concurrent use.
type Door struct {
	engine  *op.Engine
	limiter ratelimit.Limiter
	log     *slog.Logger
	now     func() time.Time // the machine's: senders sign by their own clocks
	nobody  *ent.InboundWebhook
}

// NewDoor returns a door. The limiter counts the calls of each webhook.
func NewDoor(engine *op.Engine, limiter ratelimit.Limiter, log *slog.Logger) (*Door, error) {
	d := &Door{engine: engine, limiter: limiter, log: log, now: time.Now}
	// A call of a webhook that does not exist is verified by this one, whose secret nobody knows.
	d.nobody = &ent.InboundWebhook{ID: "whi_" + rand.Text(), SignatureStyle: inboundwebhook.DefaultSignatureStyle, VerifySignature: true}
	sealed, err := sealSecret(engine.Sealer, newSecret(), d.nobody.ID)
	if err != nil {
		return nil, err
	}
	d.nobody.SecretSealed = sealed
	return d, nil
}

// Call is what came in.
type Call struct {
	WebhookID string
	Header    http.Header
	Body      []byte // the bytes that were sent
	IP        netip.Addr
	UserAgent string
	RequestID string
}

// Accepted is the answer to a call that has started a workflow, or whose first one has.
type Accepted struct {
	Status      string `json:"status" doc:"accepted" example:"accepted"`
	WebhookID   string `json:"webhookId" example:"whi_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID string `json:"executionId" doc:"The execution, to follow it at /v1/executions." example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

// Challenge is the answer to Slack's question whether an address is its owner's.
type Challenge struct {
	Challenge string `json:"challenge"`
}

func errNotFound() error { return apperr.New(apperr.NotFound, "There is no such webhook.") }

// Take returns the answer to a call once everything that it needs is committed: Accepted, or a Challenge. Returns not_found for a
// webhook that does not exist or is disabled, unauthorized for a signature that is missing or wrong, rate_limit_exceeded,
// validation_error for a body that is no JSON, and conflict for a workflow that is not active.
func (d *Door) Take(ctx context.Context, c Call) (any, error) {
	ctx = clock.With(ctx, d.engine.Store.Clock())
	w, err := d.look(ctx, c.WebhookID)
	if err != nil {
		return nil, err
	}
	genuine, err := d.verify(w, c)
	switch {
	case err != nil:
		return nil, err
	case w == d.nobody || !w.Enabled:
		return nil, errNotFound()
	}
	who := principal.WorkerAs(w.CompanyID, w.ID, "inbound webhook "+w.Name)
	who.IP, who.UserAgent, who.RequestID = c.IP, c.UserAgent, c.RequestID
	ctx = principal.With(ctx, who)
	if !genuine {
		d.refuse(ctx, w, who)
		return nil, apperr.New(apperr.Unauthorized, "The signature is missing or wrong.")
	}
	if err := d.count(ctx, w); err != nil {
		return nil, err
	}
	return d.start(ctx, w, c)
}

// look returns the webhook, or nobody's.
func (d *Door) look(ctx context.Context, id string) (*ent.InboundWebhook, error) {
	if !input.Storable(id) {
		id = "" // no row has such an id, and no database takes it
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

// verify reports whether the call is signed by the webhook's sender, or need not be. It does the same work for all webhooks.
func (d *Door) verify(w *ent.InboundWebhook, c Call) (bool, error) {
	secrets, err := openSecrets(d.engine.Sealer, w, d.engine.Store.Clock().Now())
	if err != nil {
		return false, err
	}
	return verified(w.SignatureStyle, secrets, c.Header, c.Body, d.now()) || !w.VerifySignature, nil
}

// refuse writes the audit entry of a call whose signature is wrong. Of a flood of them it writes some.
func (d *Door) refuse(ctx context.Context, w *ent.InboundWebhook, who *principal.Principal) {
	res, err := d.limiter.Take(ctx, "refused/"+w.ID, refusalLimit, d.engine.Store.Clock().Now())
	if err == nil && !res.Allowed {
		return
	}
	err = d.engine.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		e := audit.By(who)
		e.Action, e.Resource, e.ResourceID, e.Outcome = "inboundwebhook.called", "InboundWebhook", w.ID, auditentry.OutcomeDenied
		return audit.Write(ctx, tx.Client, e)
	})
	if err != nil { // the refusal stands
		d.log.ErrorContext(ctx, "audit entry of a refused call was not written", "error", err, "webhook", w.ID)
	}
}

// count counts a call against the webhook's limit. Returns rate_limit_exceeded or unavailable.
func (d *Door) count(ctx context.Context, w *ent.InboundWebhook) error {
	res, err := d.limiter.Take(ctx, "inbound/"+w.ID, callLimit, d.engine.Store.Clock().Now())
	if err != nil {
		return apperr.Wrap(err, apperr.Unavailable, "The service cannot count calls at the moment. Try again shortly.")
	}
	if !res.Allowed {
		e := apperr.New(apperr.RateLimited, "Too many calls of this webhook. Try again in %d seconds.", res.RetryAfterSeconds())
		e.RetryAfter = res.RetryAfterSeconds()
		return e
	}
	return nil
}

// start runs the operation behind a call that is the sender's. What it refuses is noted in the history.
func (d *Door) start(ctx context.Context, w *ent.InboundWebhook, c Call) (any, error) {
	kept, shown := headersOf(c.Header)
	in := ReceiveInput{ByID: op.ByID{ID: w.ID}, Headers: shown, Body: clip(c.Body, keptBody), Bytes: len(c.Body)}
	body, err := strictjson.Decode(c.Body)
	if err != nil {
		return nil, d.reject(ctx, in, apperr.InvalidField("body", "is not valid JSON: %s", err.Error()))
	}
	if challenge := textAt(body, []string{"challenge"}); w.SignatureStyle == inboundwebhook.SignatureStyleSlack &&
		textAt(body, []string{"type"}) == "url_verification" && challenge != "" {
		return Challenge{challenge}, nil
	}
	if in.Key, err = keyOf(w.SignatureStyle, c.Header, body); err != nil {
		return nil, d.reject(ctx, in, err)
	}
	in.Webhook, err = called{Body: c.Body, Headers: kept, Method: method}.at(d.engine.Store.Clock().Now())
	if err != nil {
		return nil, err
	}
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
	return Accepted{Status: "accepted", WebhookID: w.ID, ExecutionID: out.ExecutionID}, nil
}

// reject notes in the history why a call that is the sender's was refused, and returns that.
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
	if err != nil { // the refusal stands
		d.log.ErrorContext(ctx, "a refused call was not noted", "error", err, "webhook", in.ID)
	}
	return refusal
}

// maxReason bounds what the history says of a refusal, in bytes.
const maxReason = 500
