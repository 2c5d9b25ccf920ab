package op

import (
	"context"
	"log/slog"
	"net/url"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/apperr"
	"atrium/internal/clock"
	"atrium/internal/egress"
	"atrium/internal/id"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// Engine is what operations run on. Its fields are set once, before the first call.
type Engine struct {
	Store   *store.Store
	Authz   *authz.Engine
	Sealer  Sealer
	Mailer  Mailer        // nil: nobody is told anything
	Logouts Logouts       // nil: no application is told of logouts
	Egress  *egress.Guard // of the addresses that customers choose; nil: the public internet only
	Log     *slog.Logger

	Decisions *Decisions // samples what is allowed; nil keeps refusals alone

	rights rights
}

// Sealer encrypts what must not be readable in the database; aad binds the ciphertext to its row.
type Sealer interface {
	Seal(plaintext, aad []byte) ([]byte, error)
	Unseal(ciphertext, aad []byte) ([]byte, error)
}

// Call is what a door adds to one call of an operation. The zero value adds nothing.
type Call struct {
	IdempotencyKey string // ≤ 255 characters; empty for none
	Fingerprint    [32]byte
	Render         func(out any) (Answer, error) // needed with IdempotencyKey: the answer to keep
	IfMatch        func(row any) bool            // nil for none: whether the row is still as the caller saw it

	checked bool // the input was decoded by Decode, and so has been held against its rules
}

// Answer is what a door sent back, kept under an idempotency key.
type Answer struct {
	Status   int
	Header   map[string]string
	Body     []byte
	Repeated bool // this is the first answer to an earlier call with the same key
}

// matches returns precondition_failed when the caller saw an older row.
func (c *Call) matches(row any) error {
	if c == nil || c.IfMatch == nil || c.IfMatch(row) {
		return nil
	}
	return apperr.New(apperr.PreconditionFailed, "The resource has changed since you read it.")
}

// Admit returns an error when the caller is nobody or lacks the operation's scope; doors ask it before they read a
// body. The denial is audited; target is the id that the caller named, if any.
func (o *Operation[In, Out]) Admit(ctx context.Context, e *Engine, target string) error {
	p, ok := principal.From(ctx)
	if !ok {
		return apperr.New(apperr.Unauthorized, "Authentication is required.")
	}
	d, err := e.decide(ctx, p, &o.info, o.info.Verb)
	if err != nil {
		return err
	}
	if !d.Allow && d.By.Kind != "role" {
		return e.refuse(ctx, p, &o.info, []string{o.info.Verb}, target, d)
	}
	return nil
}

// Decode reads the input from a body and URL parameters. Returns validation_error with one detail per fault.
func (o *Operation[In, Out]) Decode(raw []byte, pathParam func(string) string, query url.Values) (In, error) {
	var in In
	if details := o.info.Input.decode(raw, pathParam, query, &in); len(details) > 0 {
		return in, apperr.Invalid(details...)
	}
	return in, nil
}

// Checked returns the call of an input that Decode returned, which is not checked a second time.
func (c Call) Checked() *Call {
	c.checked = true
	return &c
}

// Run performs the operation for the context's principal. Returns what its function returns, or an *apperr.Error.
func Run[In, Out any](ctx context.Context, e *Engine, o *Operation[In, Out], in In, c *Call) (Out, *Answer, error) {
	var none Out
	p, ok := principal.From(ctx)
	if !ok {
		return none, nil, apperr.New(apperr.Unauthorized, "Authentication is required.")
	}
	ctx = clock.With(ctx, e.Store.Clock())
	verbs := []string{o.info.Verb}
	if o.verbs != nil {
		verbs = o.verbs(in)
	}
	d, err := e.decideAll(ctx, p, &o.info, verbs)
	if err != nil {
		return none, nil, err
	}
	target := targetOf(in)
	if !d.Allow && d.By.Kind != "role" {
		return none, nil, e.refuse(ctx, p, &o.info, verbs, target, d)
	}
	if c == nil || !c.checked {
		details, err := o.info.Input.check(in)
		if err != nil {
			return none, nil, apperr.From(err)
		}
		if len(details) > 0 {
			return none, nil, apperr.Invalid(details...)
		}
	}
	call := &attempt{engine: e, principal: p, info: &o.info, verbs: verbs, target: target, decision: d, call: c}
	if ctx, err = call.narrow(ctx); err != nil {
		return none, nil, call.failed(ctx, err)
	}
	if o.info.Action == Read {
		tx := &Tx{Client: e.Store.Reader(), attempt: call}
		out, err := o.perform(ctx, tx, in)
		if err != nil {
			return none, nil, call.failed(ctx, err)
		}
		call.sample(ctx)
		return out, nil, nil
	}
	return write(ctx, call, o, in)
}

// perform asks for the role's right where no row decides first, and runs the function.
func (o *Operation[In, Out]) perform(ctx context.Context, tx *Tx, in In) (Out, error) {
	var none Out
	if _, onRow := any(in).(Target); !onRow {
		if !tx.decision.Allow {
			return none, tx.denied()
		}
		if err := tx.mayBegin(ctx); err != nil {
			return none, err
		}
	}
	return o.run(ctx, tx, tx.call, in)
}

// write runs the operation in one transaction with its audit entry, events and kept answer.
func write[In, Out any](ctx context.Context, a *attempt, o *Operation[In, Out], in In) (Out, *Answer, error) {
	var out Out
	var answer *Answer
	try := func() error {
		return a.engine.Store.Write(ctx, func(ctx context.Context, dbtx *store.Tx) error {
			tx := &Tx{Client: dbtx.Client, attempt: a, db: dbtx}
			first, err := tx.firstAnswer(ctx)
			if first != nil || err != nil {
				answer = first
				return err
			}
			if out, err = o.perform(ctx, tx, in); err != nil {
				return err
			}
			if err := tx.mayLeave(ctx, out); err != nil {
				return err
			}
			if answer, err = tx.keepAnswer(ctx, out); err != nil {
				return err
			}
			return tx.finish(ctx, out)
		})
	}
	err := try()
	if err != nil && a.call != nil && a.call.IdempotencyKey != "" && a.public(err).Code == apperr.Conflict {
		err = try() // if another call with the same key won, its answer is there this time
	}
	if err != nil {
		var none Out
		return none, nil, a.failed(ctx, err)
	}
	if a.authority {
		a.engine.Store.AuthorityChanged()
	}
	a.sample(ctx)
	return out, answer, nil
}

// decide asks authz; an error of the engine is a refusal.
func (e *Engine) decide(ctx context.Context, p *principal.Principal, info *Info, verb string) (authz.Decision, error) {
	d, err := e.Authz.Decide(ctx, p, authz.Question{Verb: verb, Scope: info.Scope, AdminLayer: info.AdminLayer})
	if err != nil {
		return authz.Decision{}, apperr.Wrap(err, apperr.Forbidden, "Access could not be decided.")
	}
	return d, nil
}

// decideAll returns the narrowest decision over the verbs.
func (e *Engine) decideAll(ctx context.Context, p *principal.Principal, info *Info, verbs []string) (authz.Decision, error) {
	var narrowest authz.Decision
	for i, verb := range verbs {
		d, err := e.decide(ctx, p, info, verb)
		if err != nil {
			return d, err
		}
		if !d.Allow {
			return d, nil
		}
		if i == 0 || narrowest.Rows == authz.RowsAll {
			narrowest = d
		}
	}
	return narrowest, nil
}

// refuse audits a denial and returns what the caller is told.
func (e *Engine) refuse(ctx context.Context, p *principal.Principal, info *Info, verbs []string, target string, d authz.Decision) error {
	a := &attempt{engine: e, principal: p, info: info, verbs: verbs, target: target, decision: d}
	return a.failed(ctx, a.denied())
}

// denied is the error of a decision that says no.
func (a *attempt) denied() error {
	err := apperr.New(apperr.Forbidden, "You may not do this.")
	err.DecisionID = id.New("dec")
	err.Reason = a.decision.By.ID
	switch a.decision.By.Kind {
	case "scope":
		err.Message = "The credential lacks the scope " + a.decision.By.ID + "."
	case "method":
		err.Message = "This takes a signed-in person with all of the role's scopes."
	case "role":
		err.Message = "The role " + a.decision.By.ID + " may not do this."
	case "policy", "operator":
		err.Message = "The access policies do not allow this."
	}
	return err
}

// missing turns Ent's not-found error into the resource's own.
func missing(err error, resource string) error {
	if ent.IsNotFound(err) {
		return apperr.Missing(resource)
	}
	return err
}
