package execution

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/id"
	"atrium/internal/secret"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// Rehearsal is an execution without a row. It computes and masks what a worker would commit, from inputs that its caller gives, and
// neither writes nor calls anything. A step enters one phase. It is for one goroutine.
type Rehearsal struct {
	l    loaded
	mask *secret.Masker
}

// RehearsalOf is what an execution would begin with.
type RehearsalOf struct {
	Definition *definition.Definition
	Request    *ent.Request    // as it was filed; nil for an execution without one. The rehearsal changes its own copy
	Sample     bool            // nobody has filed the request, so everybody may decide on it
	Webhook    json.RawMessage // the call that would start it; nil for none
	Input      json.RawMessage // what another execution would call it with; nil for one that nothing calls
}

// rehearsed is what expressions read as execution.id.
const rehearsed = "exe_trial"

// NewRehearsal returns a rehearsal that has not begun. Do not call it in a transaction: it decrypts the company's secrets, to mask them.
func NewRehearsal(ctx context.Context, tx *op.Tx, of RehearsalOf) (*Rehearsal, error) {
	m, err := secret.Mask(ctx, tx.Client, tx.Sealer())
	if err != nil {
		return nil, err
	}
	r := &Rehearsal{mask: m, l: loaded{
		row: &ent.Execution{ID: rehearsed, CompanyID: tx.Principal().CompanyID, Webhook: of.Webhook}, d: of.Definition, sample: of.Sample, most: 1,
	}}
	if len(of.Input) > 0 {
		if r.l.row.Input, err = hideJSON(m, of.Input); err != nil {
			return nil, err
		}
		r.l.row.ParentID = new(rehearsed)
	}
	if of.Request != nil {
		own := *of.Request
		r.l.request = &own
	}
	return r, nil
}

// Rehearsed is what one step would commit.
type Rehearsed struct {
	State   engine.State
	History []engine.Visit // visits that were started or changed, in order
	Effects []engine.Effect
	More    bool                    // engine.Continue continues
	Rulings map[int][]engine.Ruling // of the DECISIONs that the step has entered, by visit
	people  *present
	cast    *cast
}

// Step applies an input at a moment. Returns nil for an input that would change nothing.
func (r *Rehearsal) Step(ctx context.Context, db *ent.Client, in engine.Input, at time.Time) (*Rehearsed, error) {
	r.l.inputs = []engine.Input{in}
	rulings := map[int][]engine.Ruling{}
	r.l.ruled = func(visit int, list []engine.Ruling) { rulings[visit] = list }
	p, err := r.l.compute(ctx, db, at)
	if err != nil || p == nil {
		return nil, err
	}
	if err := r.change(p.effects, at); err != nil {
		return nil, err
	}
	out := &Rehearsed{Effects: p.effects, More: p.more, Rulings: r.hidden(rulings), people: p.people, cast: p.cast}
	if err := p.hide(r.mask); err != nil {
		return nil, err
	}
	if p.webhook != nil {
		r.l.row.Webhook = p.webhook
	}
	r.l.state, out.State, out.History = p.state, p.state, p.history
	if p.more {
		return out, nil
	}
	raw, err := encode(p.state) // what waits is read back from the database
	if err == nil {
		r.l.state, err = readState(raw)
	}
	return out, err
}

// change does to the request what the effects of a step do.
func (r *Rehearsal) change(effects []engine.Effect, at time.Time) error {
	for _, e := range effects {
		switch e := e.(type) {
		case engine.ActOnRequest:
			switch e.Action {
			case definition.Accept:
				r.l.request.Status, r.l.request.AcceptedAt = request.StatusIN_PROGRESS, &at
				r.l.request.FirstResponseAt = cmp.Or(r.l.request.FirstResponseAt, &at)
			case definition.Complete:
				r.l.request.Status, r.l.request.CompletedAt = request.StatusCOMPLETED, &at
			case definition.Cancel:
				r.l.request.Status, r.l.request.CancelledAt = request.StatusCANCELLED, &at
			}
		case engine.SetFields:
			raw, err := encode(e.Fields)
			if err != nil {
				return err
			}
			r.l.request.Fields = raw
		}
	}
	return nil
}

// hidden masks why rules gave nothing.
func (r *Rehearsal) hidden(rulings map[int][]engine.Ruling) map[int][]engine.Ruling {
	for _, list := range rulings {
		for i := range list {
			if list[i].Err != nil {
				list[i].Err = errors.New(r.mask.Text(list[i].Err.Error()))
			}
		}
	}
	return rulings
}

// Call returns what the call that a visit of the rehearsal waits for would send, as the history shows it, or an input that says why it
// cannot be made. Secrets have other texts in place of their values: see secret.Sample.
func (r *Rehearsal) Call(ctx context.Context, db *ent.Client, v *engine.Visit, at time.Time) (sent any, stuck engine.Input, err error) {
	used, missing, err := secret.Sample(ctx, db, r.l.d.Phase(v.PhaseID).Secrets())
	if stuck, err := withoutSecrets(v, missing, err); err != nil || stuck != nil {
		return nil, stuck, err
	}
	p, stuck, err := r.l.prepare(ctx, db, v, used, at)
	if err != nil || stuck != nil {
		return nil, stuck, err
	}
	return r.mask.Value(p.sent), nil, nil
}

// Outgoing is a call that is ready to be made, with the company's secrets.
type Outgoing struct {
	p       *prepared
	Host    string          // to which it goes, masked
	Secrets []secret.Opened // that it uses
}

// Outgoing returns the call that a visit of the rehearsal waits for, or an input that says why it cannot be made. Receivers take it for one
// that they have not seen. Do not call it in a transaction: it decrypts secrets.
func (r *Rehearsal) Outgoing(ctx context.Context, tx *op.Tx, v *engine.Visit, at time.Time) (*Outgoing, engine.Input, error) {
	used, missing, err := secret.Use(ctx, tx.Client, tx.Sealer(), r.l.d.Phase(v.PhaseID).Secrets())
	if stuck, err := withoutSecrets(v, missing, err); err != nil || stuck != nil {
		return nil, stuck, err
	}
	r.l.row.ID = id.New("exe")
	p, stuck, err := r.l.prepare(ctx, tx.Client, v, used, at)
	if err != nil || stuck != nil {
		return nil, stuck, err
	}
	return &Outgoing{p: p, Host: p.mask.Text(p.request.URL.Hostname()), Secrets: used.Opened}, nil, nil
}

// Sent is a call that was made and what came of it, as the history would show them.
type Sent struct {
	Sent    map[string]any
	Answer  *engine.Answer // nil: none came
	Failure string         // why none came
}

// Send makes the call, which may take this long at most.
func (o *Outgoing) Send(ctx context.Context, by *egress.Client, most time.Duration) (*Sent, error) {
	o.p.limits.Timeout = min(o.p.limits.Timeout, most)
	answer, failure, err := o.p.answer(by.Do(ctx, o.p.request, o.p.limits))
	if err != nil {
		return nil, err
	}
	return &Sent{Sent: o.p.sent, Answer: answer, Failure: failure}, nil
}

// Variables returns what expressions read now, masked like everything that an execution stores.
func (r *Rehearsal) Variables() (json.RawMessage, error) {
	state, err := encode(r.l.state)
	if err != nil {
		return nil, err
	}
	row := *r.l.row
	row.State, row.Edges.Request = state, r.l.request
	return Variables(&row)
}

// Request returns the request as the rehearsal has changed it; nil for none.
func (r *Rehearsal) Request() *ent.Request { return r.l.request }

// Worker returns who would get the task of a phase: nobody in particular for a phase that names nobody.
func (r *Rehearsed) Worker(p *definition.Phase) (who []definition.Participant) {
	if one, _ := r.people.worker(r.cast.inRole(p, "responsible")); one.ID != "" {
		who = append(who, one)
	}
	return who
}

// Approvers returns the rules of an approval that the step opens, or of the sign-off of a task.
func (r *Rehearsed) Approvers(p *definition.Phase, signOff bool) *definition.ApprovalConfig {
	list, mode, quorum, sequential := approversOf(p, signOff)
	c := &definition.ApprovalConfig{Mode: mode, Quorum: quorum, Order: definition.Parallel}
	if sequential {
		c.Order = definition.Sequential
	}
	for _, one := range r.cast.in(list) {
		c.Approvers = append(c.Approvers, definition.Approver{Type: one.Type, ID: one.ID})
	}
	return c
}

// Told returns whom a phase tells in a role.
func (r *Rehearsed) Told(e engine.Tell) []definition.Participant {
	return r.cast.inRole(e.Phase, e.Role)
}
