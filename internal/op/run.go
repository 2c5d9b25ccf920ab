package op

import (
	"context"
	"errors"
	"log/slog"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/op/decisionlog"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Engine is what operations run on. Its fields are set once, before the first call.
type Engine struct {
	Store      *store.Store
	Authz      *authz.Engine
	Sealer     Sealer
	Mailer     Mailer // nil: no mail is sent
	Queue      Queue  // nil: jobs are dropped, as in tests without workers
	Events     events.Subscribers
	Egress     *egress.Client // calls addresses that customers choose, and checks them; nil: nobody is called
	Agents     Agents         // nil: no agent does anything
	BaseURL    string         // of addresses in answers, without a slash at its end; empty: these are below it
	MailDomain string         // of the addresses at which mail is taken; empty where none is
	NoAgents   bool           // agents do nothing on this node, not even approved actions
	Log        *slog.Logger

	Decisions *decisionlog.Sampler // samples allowed calls; nil: only refusals are logged

	policies policyCache
	known    store.AuthorityCache[any]
	grants   grants

	sequences sequences
}

// Sealer encrypts values that must not be readable in the database; aad binds the ciphertext to its row.
type Sealer interface {
	Seal(plaintext, aad []byte) ([]byte, error)
	Unseal(ciphertext, aad []byte) ([]byte, error)
}

// Run performs the operation for the context's principal. Returns what its function returns, or an *apperr.Error.
//
// The *Answer is nil for a read, and for a write without an idempotency key. With a key it is what Call.Render made of the Out,
// or the first call's answer (Repeated); the Out is then the zero value. It is also zero for a write by an agent, which is
// held: the *Answer, with or without a key, has status 202 and carries what was stored in place of the write.
func Run[In, Out any](ctx context.Context, e *Engine, o *Operation[In, Out], in In, c *Call) (Out, *Answer, error) {
	var none Out
	ctx, a, err := start(ctx, e, o, in, c)
	switch {
	case a == nil:
		return none, nil, err
	case err != nil:
		return none, nil, a.failed(ctx, err)
	case o.info.Action != Read && byAgent(a.principal, a.info):
		answer, err := a.hold(ctx, in)
		return none, answer, err
	case o.info.Action != Read:
		return write(ctx, a, o, in)
	}
	out, err := o.read(ctx, a, in)
	if err != nil {
		return none, nil, a.failed(ctx, err)
	}
	a.sample(ctx)
	return out, nil, nil
}

// read performs an operation that reads. A replica may answer it unless it is about one row: to ask the primary how far the replica
// must have come costs what that row does.
func (o *Operation[In, Out]) read(ctx context.Context, a *attempt, in In) (out Out, err error) {
	if _, onRow := any(in).(Target); onRow {
		return o.perform(ctx, &Tx{Client: a.engine.Store.Reader(), attempt: a}, in)
	}
	err = a.engine.Store.Read(ctx, func(ctx context.Context, db *ent.Client) (err error) {
		out, err = o.perform(ctx, &Tx{Client: db, attempt: a}, in)
		return err
	})
	return out, err
}

// start takes a call up to its function: it checks the principal's right to the operation and validates the input. The
// context that it returns limits queries to the rows that the company's access policies show. The attempt is nil when
// nothing was decided.
func start[In, Out any](ctx context.Context, e *Engine, o *Operation[In, Out], in In, c *Call) (context.Context, *attempt, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return ctx, nil, apperr.Unauthenticated(nil)
	}
	ctx = clock.With(ctx, e.Store.Clock())
	verbs := []string{o.info.Verb}
	if o.verbs != nil {
		verbs = o.verbs(in)
	}
	p, also, err := readers(p, &o.info, targetOf(in))
	if err != nil {
		return ctx, nil, err
	}
	admitted := c
	if also != nil {
		ctx, admitted = principal.With(ctx, p), nil // Admit decided about the agent, not about the requester
	}
	d, err := e.decideAll(ctx, p, &o.info, verbs, admitted)
	if err != nil {
		return ctx, nil, err
	}
	a := &attempt{engine: e, principal: p, also: also, info: &o.info, verbs: verbs, target: targetOf(in), decision: d, call: c}
	if !d.Allow && d.By.Kind != "role" {
		return ctx, a, a.denied()
	}
	if d.Allow && o.info.LiveOnly && p.Sandbox {
		return ctx, a, apperr.New(apperr.Conflict, "That is done in the live company, not in its sandbox.")
	}
	if c == nil || !c.checked {
		details, err := o.info.Input.Check(in)
		if err != nil {
			return ctx, a, apperr.From(err)
		}
		if len(details) > 0 {
			return ctx, a, apperr.Invalid(details...)
		}
	}
	ctx, err = a.narrow(ctx)
	return ctx, a, err
}

// perform checks the role's right if no row decides about it, and runs the function.
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
	return o.run(ctx, tx, in)
}

// complete performs the operation in a transaction, and writes its audit entry.
func (o *Operation[In, Out]) complete(ctx context.Context, tx *Tx, in In) (Out, error) {
	var none Out
	out, err := o.perform(ctx, tx, in)
	if err == nil {
		err = tx.inner.err
	}
	if err == nil {
		err = tx.mayLeave(ctx, out)
	}
	if err == nil {
		err = tx.finish(ctx, out)
	}
	if err != nil {
		return none, err
	}
	return out, nil
}

// write runs the operation in one transaction with its audit entry, events and stored answer.
func write[In, Out any](ctx context.Context, a *attempt, o *Operation[In, Out], in In) (Out, *Answer, error) {
	var out Out
	var answer *Answer
	try := func() error {
		if err := o.prepared(ctx, a, a.engine.Store.Reader(), in); err != nil {
			return err
		}
		return a.engine.Store.Write(ctx, func(ctx context.Context, dbtx *store.Tx) error {
			a.writing = true
			defer func() { a.writing = false }()
			tx := &Tx{Client: dbtx.Client, attempt: a, db: dbtx}
			first, err := o.firstAnswer(ctx, tx, in)
			if first != nil || err != nil {
				answer = first
				return err
			}
			if out, err = o.complete(ctx, tx, in); err != nil {
				return err
			}
			if err = tx.mayGive(ctx, out); err != nil {
				return err
			}
			answer, err = tx.storeAnswer(ctx, out)
			return err
		})
	}
	err := try()
	for n := 1; errors.Is(err, ErrOutdated) && n < maxPreparations; n++ {
		err = try()
	}
	if err != nil && a.call != nil && a.call.IdempotencyKey != "" {
		switch a.public(err).Code {
		case apperr.Conflict, apperr.PreconditionFailed, apperr.NotFound:
			err = try() // if another call with the same key won, its answer is stored by now
		}
	}
	if err != nil {
		a.releaseKey(ctx)
		var none Out
		return none, nil, a.failed(ctx, err)
	}
	a.sample(ctx)
	return out, answer, nil
}

// decide asks authz; an error of the engine is a refusal.
func (e *Engine) decide(ctx context.Context, p *principal.Principal, info *Info, verb string) (authz.Decision, error) {
	if aboutRuns(p, info) {
		return ofAgents(p, info), nil
	}
	d, err := e.Authz.Decide(ctx, p, info.question(verb, "", ""))
	if err != nil {
		return authz.Decision{}, undecided(err)
	}
	if p.Type == principal.TypeAgent && info.Action != Read && d.Allow {
		d.Rows = authz.RowsAll // an agent writes about the request of its run alone (package agent), which is its own to work
	}
	return d, nil
}

// decideAll returns the narrowest decision over the verbs. If Admit has decided about the operation's own verb, decideAll
// reuses that decision.
func (e *Engine) decideAll(ctx context.Context, p *principal.Principal, info *Info, verbs []string, c *Call) (authz.Decision, error) {
	if c != nil && c.admitted != nil && len(verbs) == 1 && verbs[0] == info.Verb {
		return *c.admitted, nil
	}
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

// refuse audits a denial and returns the caller's error.
func (e *Engine) refuse(ctx context.Context, p *principal.Principal, info *Info, verbs []string, target string, d authz.Decision) error {
	a := &attempt{engine: e, principal: p, info: info, verbs: verbs, target: target, decision: d}
	return a.failed(ctx, a.denied())
}

// denied returns the error for the attempt's negative decision.
func (a *attempt) denied() error {
	err := apperr.New(apperr.Forbidden, "You may not do this.")
	err.DecisionID = id.New("dec")
	if !a.concealed() {
		err.Reason = a.decision.By.ID
	}
	switch a.decision.By.Kind {
	case "scope":
		err.Message = "The credential lacks the scope " + a.decision.By.ID + "."
	case "method":
		err.Message = "This requires a signed-in person with all of the role's scopes."
	case "role":
		err.Message = "The role " + a.decision.By.ID + " may not do this."
	case "policy", "operator":
		err.Message = "The access policies do not allow this."
	case "approval":
		err.Message = "The access policies have an agent wait for a person's approval of this."
	}
	return err
}
