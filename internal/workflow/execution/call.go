package execution

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/riverqueue/river"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/text"
	"atrium/internal/secret"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

const (
	callQueue   = "calls"
	maxAnswer   = 256 << 10 // bytes of an answer
	maxHead     = 256 << 10 // bytes of an address and of the headers that a phase sets
	callMargin  = 20 * time.Second
	userAgent   = "Atrium-Workflows/1.0"
	codeSecret  = "secret_missing" // code of the incident about a secret that was deleted
	codeSecrets = "secrets_too_large"
	codeHost    = "secret_host" // of the incident about a call of a host to which a secret may not be sent
	stoppedWait = time.Second   // wait after a call that this node had to abort because it stops
)

// CallArgs is the job of one attempt at the call of a phase.
type CallArgs struct {
	Company   string `json:"company"`
	Execution string `json:"execution"`
	Visit     int    `json:"visit"`
	Attempt   int    `json:"attempt"` // of the visit; the job is stale once the execution waits for another attempt
}

// Kind names the job.
func (CallArgs) Kind() string { return "execution_call" }

// InsertOpts gives calls a queue of their own, apart from work that needs no other server. The definition decides how often a
// call is attempted, and each attempt is a job of its own.
func (CallArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: callQueue, MaxAttempts: 100}
}

// caller works the jobs of calls.
type caller struct {
	river.WorkerDefaults[CallArgs]
	r *Runner
}

// Timeout is the longest time that a definition can give a call, with a margin.
func (*caller) Timeout(*river.Job[CallArgs]) time.Duration {
	return definition.MaxTimeoutSeconds*time.Second + callMargin
}

// NextRetry comes soon; see retryAt.
func (*caller) NextRetry(job *river.Job[CallArgs]) time.Time { return retryAt(job.Attempt) }

// Work makes one attempt, outside of any transaction, and then commits its outcome with all that follows. If this node dies in
// between, the attempt is made again under the same idempotency key.
func (c *caller) Work(ctx context.Context, job *river.Job[CallArgs]) error {
	a := job.Args
	ctx = c.r.Engine.Reading(ctx, a.Company, workerName)
	now := c.r.Engine.Store.Clock().Now()
	l, err := load(ctx, c.r.Engine.Store.Reader(), a.Execution, now)
	if err != nil || l == nil {
		return err
	}
	at := l.state.At(a.Visit)
	if !waitsAt(&l.state, a.Visit, engine.ForCall) || at.Wait.Attempt != a.Attempt {
		return nil // another worker has made the attempt, or it is no longer needed
	}
	if early := at.Wait.Until.Sub(now); early > 0 {
		return river.JobSnooze(early)
	}
	leaveCalls, wait := c.r.calling.enter(ctx, a.Company)
	if wait > 0 {
		return river.JobSnooze(wait)
	}
	defer leaveCalls()
	ctx, st := c.r.begin(ctx, a.Execution, "")
	in, err := c.r.call(ctx, l, at, now)
	if errors.Is(err, errStopped) {
		return river.JobSnooze(stoppedWait)
	}
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	leave, err := c.r.outcomes.Take(ctx, a.Company) // limits how many outcomes commit at once; see bulkSteppers
	if err != nil {
		return fmt.Errorf("commit the outcome: %w", err)
	}
	defer leave()
	return c.r.advance(ctx, st, a.Company, a.Execution, in)
}

// errStopped is returned by call when this node stops during the call, so that nobody knows what the receiver got.
var errStopped = errors.New("the node stops")

// prepared is a call that is ready to be made.
type prepared struct {
	request *http.Request
	limits  egress.Limits
	mask    *secret.Masker
	sent    map[string]any // the call as the history shows it
}

// call makes the attempt that a state of the execution waits for, and returns its outcome as the engine's input, with all secrets masked.
// An error means that this node failed, not the receiver.
func (r *Runner) call(ctx context.Context, l *loaded, at *engine.State, now time.Time) (engine.Input, error) {
	v := at.Visit
	used, missing, err := secret.Use(ctx, r.Engine.Store.Reader(), r.Engine.Sealer, l.d.Phase(v.PhaseID).Secrets())
	stuck, err := withoutSecrets(v, missing, err)
	if err != nil || stuck != nil {
		return stuck, err
	}
	var p *prepared
	err = r.fair(ctx, l.row.CompanyID, true, func(ctx context.Context) (err error) {
		p, stuck, err = l.prepare(ctx, r.Engine.Store.Reader(), v, used, now)
		return err
	})
	if err != nil || stuck != nil {
		return stuck, err
	}
	if err := r.noteUse(ctx, l.row.CompanyID, used.Opened, now); err != nil {
		return nil, err
	}
	span := r.beginCall(ctx, p)
	got, err := r.Egress.Do(ctx, p.request, p.limits)
	endCall(span, got.Status, err)
	answer, failure, err := p.answer(got, err)
	if err != nil {
		return nil, err
	}
	return engine.Answered{Visit: v.Number, Attempt: at.Wait.Attempt, Sent: p.sent, Answer: answer, Failure: failure}, nil
}

// answer returns what came of the call, or why nothing did, with all secrets masked.
func (p *prepared) answer(got egress.Answer, err error) (answer *engine.Answer, failure string, _ error) {
	if e, ok := errors.AsType[*egress.Error](err); ok {
		if e.Class == egress.ClassStopped {
			return nil, "", errStopped
		}
		return nil, "The call failed: " + e.Text() + ".", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("call: %w", err)
	}
	if got.Truncated {
		return nil, fmt.Sprintf("The answer was longer than %d KiB.", maxAnswer>>10), nil
	}
	header := http.Header{}
	for name, values := range got.Header {
		for _, value := range values {
			header.Add(p.mask.Text(text.Plain(name)), p.mask.Text(text.Header(value)))
		}
	}
	body, unreadable := bodyOf(got.Body, got.Header.Get("Content-Type"))
	return &engine.Answer{Status: got.Status, Header: header, Body: p.mask.Value(body), Unreadable: unreadable}, "", nil
}

// noteUse records that the secrets of a call are used now. It is not part of the execution's commit: executions that run in
// parallel would wait there for each other, because they share the secret's row.
func (r *Runner) noteUse(ctx context.Context, company string, used []secret.Opened, now time.Time) error {
	ids := secret.DueForTouch(used, now)
	if len(ids) == 0 {
		return nil
	}
	return r.Engine.Work(ctx, company, workerName, func(ctx context.Context, tx *op.Tx) error { return secret.TouchLastUsed(ctx, tx.Client, ids, now) })
}

// prepare evaluates the templates of a visit's phase with the secrets that they name, and holds the host that comes of it against the hosts of these
// secrets. If one of both fails, it returns an input that says why the phase is stuck.
func (l *loaded) prepare(ctx context.Context, db *ent.Client, v *engine.Visit, used secret.Uses, now time.Time) (*prepared, engine.Input, error) {
	phase := l.d.Phase(v.PhaseID)
	p := &prepared{mask: used.Mask, limits: egress.Limits{Body: maxAnswer, Timeout: definition.DefaultTimeoutSeconds * time.Second}}
	vars, err := l.vars(ctx, db, v.Number, now, used.Values)
	if err != nil {
		return nil, nil, err
	}
	b := vars.Bind()
	if phase.APICall != nil {
		err = p.api(ctx, phase.APICall, b)
	} else {
		err = p.callout(ctx, phase.Callout, b, v.StartedAt, engine.Key(l.row.ID, v), used.Values)
	}
	if err != nil {
		return nil, engine.Stuck{Visit: v.Number, Code: engine.ExpressionFailed, Message: p.mask.Text("The call could not be written: " + err.Error() + ".")}, ctx.Err()
	}
	if name := secret.Barred(used.Opened, p.request.URL.Hostname()); name != "" {
		host := text.Short(p.mask.Text(p.request.URL.Hostname()), 100)
		return nil, engine.Stuck{Visit: v.Number, Code: codeHost, Message: "The secret " + name + " may not be sent to " + host + ", which its allowed hosts do not name."}, nil
	}
	if p.request.Header.Get("User-Agent") == "" {
		p.request.Header.Set("User-Agent", userAgent)
	}
	p.request.Header.Set("Idempotency-Key", engine.Key(l.row.ID, v))
	return p, nil, nil
}

// withoutSecrets returns an input that says why a visit is stuck if its secrets could not be had for a reason that people have to mend:
// one is missing, or err is about their length. It returns other errors.
func withoutSecrets(v *engine.Visit, missing string, err error) (engine.Input, error) {
	switch {
	case missing != "":
		return engine.Stuck{Visit: v.Number, Code: codeSecret, Message: "The secret " + missing + " does not exist any more."}, nil
	case errors.Is(err, secret.ErrTooMuch):
		return engine.Stuck{Visit: v.Number, Code: codeSecrets, Message: fmt.Sprintf("The secrets of the call are longer than %d KiB together.", secret.MaxUsed>>10)}, nil
	}
	return nil, err
}

// api builds the call of an API_CALL.
func (p *prepared) api(ctx context.Context, c *definition.APICallConfig, b definition.Bound) error {
	url, err := c.URL.URL(ctx, b)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	var body []byte
	p.sent = map[string]any{"method": c.Method, "url": p.mask.Text(url)}
	if c.Body != nil {
		value, err := c.Body.Eval(ctx, b)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		if body, err = json.Marshal(value); err != nil {
			return fmt.Errorf("body: %w", err)
		}
		p.sent["body"] = p.mask.Value(value)
	}
	if p.request, err = http.NewRequestWithContext(ctx, c.Method, url, bytes.NewReader(body)); err != nil {
		return errors.New("url: what the expressions give is no address")
	}
	if c.Body != nil {
		p.request.Header.Set("Content-Type", "application/json")
	}
	headers, long := map[string]any{}, len(url)
	for _, h := range c.Headers {
		value, err := h.Value.Text(ctx, b)
		if err != nil {
			return fmt.Errorf("header %s: %w", h.Name, err)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("header %s: its value holds control characters", h.Name)
		}
		if long += len(value); long > maxHead {
			return fmt.Errorf("header %s: with it, the address and the headers are longer than %d KiB", h.Name, maxHead>>10)
		}
		p.request.Header.Set(h.Name, value)
		headers[h.Name] = p.mask.Text(value)
	}
	p.sent["headers"] = headers
	p.limits.Timeout = time.Duration(c.TimeoutSeconds) * time.Second
	return nil
}

// callout builds the call of a WEBHOOK_CALLOUT. Its body is the same on every attempt, and gives the time at which the phase
// was entered. The signature gives the time of sending by the machine's clock, because receivers compare it with theirs.
func (p *prepared) callout(ctx context.Context, c *definition.CalloutConfig, b definition.Bound, at time.Time, key string, secrets map[string]string) error {
	url, err := c.URL.URL(ctx, b)
	if err != nil {
		return fmt.Errorf("url: %w", err)
	}
	var data any
	if c.Data != nil {
		if data, err = c.Data.Eval(ctx, b); err != nil {
			return fmt.Errorf("data: %w", err)
		}
	}
	body, err := json.Marshal(struct {
		Event     string `json:"event"`
		Timestamp string `json:"timestamp"`
		Data      any    `json:"data"`
	}{c.Event, at.UTC().Format(clock.Format), data})
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if p.request, err = http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body)); err != nil {
		return errors.New("url: what the expressions give is no address")
	}
	p.request.Header.Set("Content-Type", "application/json")
	p.request.Header.Set(standardwebhooks.HeaderWebhookID, key)
	sent := time.Now()
	p.request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, fmt.Sprint(sent.Unix()))
	p.sent = map[string]any{"method": http.MethodPost, "url": p.mask.Text(url), "event": c.Event, "data": p.mask.Value(data)}
	if c.SigningSecret == "" {
		return nil
	}
	signer, err := signerOf(secrets[c.SigningSecret])
	if err != nil {
		return errors.New("signingSecret: it is no base64 after whsec_")
	}
	signature, err := signer.Sign(key, sent, body)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	p.request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}

// signerOf reads a signing secret: base64 after whsec_, else the bytes of the text.
func signerOf(value string) (*standardwebhooks.Webhook, error) {
	if strings.HasPrefix(value, "whsec_") {
		return standardwebhooks.NewWebhook(value)
	}
	return standardwebhooks.NewWebhookRaw([]byte(value))
}
