package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/internal/op"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/execution"
)

// Limits of a trial.
const (
	maxSteps = 1_000
	maxTime  = 3 * time.Second
	margin   = 500 * time.Millisecond // of the time that the call has, for what comes after the last step
	maxEval  = time.Second            // of all expressions together
	maxBytes = 1 << 20                // of JSON of inputs, outputs and calls
)

// trial is one trial in progress.
type trial struct {
	tx    *op.Tx
	r     *execution.Rehearsal
	d     *definition.Definition
	given *answers
	until string
	at    time.Time // the trial's clock

	ends   time.Time // when it may take no further step
	budget *definition.Budget
	bytes  int
	steps  map[int]*Step // by the number of their visit
	out    *Result
	who    []*Participant // of all steps

	now    *execution.Rehearsed // the last step
	asked  *Ask                 // what the execution waits for
	called *Call                // likewise
	answer *answer              // to what it waits for; nil when it was not looked for yet
}

// run steps until the execution ends or the trial stops.
func (t *trial) run(ctx context.Context) error {
	t.ends = time.Now().Add(maxTime)
	if most, bounded := ctx.Deadline(); bounded && most.Add(-margin).Before(t.ends) {
		t.ends = most.Add(-margin) // it has waited for its turn
	}
	ctx, t.budget = definition.WithBudget(ctx, maxEval)
	var in engine.Input = engine.Begin{}
	for in != nil {
		var err error
		if t.now, err = t.r.Step(ctx, t.tx.Client, in, t.at); err != nil {
			return err
		}
		if t.now == nil {
			return fmt.Errorf("%T changes nothing", in)
		}
		if err := t.record(); err != nil {
			return err
		}
		if in, err = t.next(ctx); err != nil {
			return err
		}
	}
	t.out.Status, t.out.Error = string(t.now.State.Status), t.now.State.Fault
	if w := t.now.State.Wait; w != nil && w.For == engine.ForIncident {
		t.out.Error = t.now.State.Visit.Fault
	}
	return nil
}

// next returns the input that the execution gets next; nil when the trial ends here.
func (t *trial) next(ctx context.Context) (engine.Input, error) {
	s := t.now.State
	switch v := s.Visit; {
	case s.Status.Final():
		return nil, nil
	case t.spent():
		return t.stop(StopLimit, "", "A trial takes at most %d phases, %d seconds and %d KiB.", maxSteps, maxTime/time.Second, maxBytes>>10)
	case s.Wait == nil && v.PhaseID == t.until:
		return t.stop(StopUntil, "", "The trial was to stop here, with what the phase leaves behind.")
	case s.Wait == nil:
		return engine.Continue{Visit: v.Number}, nil
	case s.Wait.For == engine.ForIncident:
		return t.stop(StopIncident, "", "Somebody would have to resolve an incident.")
	case s.Wait.For == engine.ForCall:
		if stuck, err := t.call(ctx, s.Wait); stuck != nil || err != nil {
			return stuck, err
		}
	}
	if s.Visit.PhaseID == t.until {
		return t.stop(StopUntil, "", "The trial was to stop here, where the phase waits.")
	}
	p := t.d.Phase(s.Visit.PhaseID)
	switch s.Wait.For {
	case engine.ForTimer:
		return t.wake()
	case engine.ForCall:
		return t.respond(p)
	case engine.ForTask:
		return t.complete(p)
	}
	return t.decide(p, s.Wait)
}

// spent reports whether a limit is reached.
func (t *trial) spent() bool {
	return len(t.out.Steps) >= maxSteps || t.bytes > maxBytes || t.budget.Over || time.Now().After(t.ends)
}

// stop ends the trial where it is.
func (t *trial) stop(reason, answer, message string, args ...any) (engine.Input, error) {
	t.out.Stopped = &Stop{PhaseID: t.now.State.Visit.PhaseID, Reason: reason, Message: fmt.Sprintf(message, args...)}
	if answer != "" {
		t.out.Stopped.Answer = &answer
	}
	return nil, nil
}

// want ends the trial for want of an answer.
func (t *trial) want(path string) (engine.Input, error) {
	return t.stop(StopAnswer, path, "The trial needs an answer to go on: %s.", path)
}

// wake lets the moment come for which the execution waits.
func (t *trial) wake() (engine.Input, error) {
	t.at = *t.now.State.Wait.Until
	return engine.Woke{Visit: t.now.State.Visit.Number}, nil
}

// call writes the call that the execution waits for, at its moment.
func (t *trial) call(ctx context.Context, w *engine.Wait) (stuck engine.Input, err error) {
	if w.Until.After(t.at) {
		t.at = *w.Until
	}
	sent, stuck, err := t.r.Call(ctx, t.tx.Client, t.at)
	if err != nil || stuck != nil {
		return stuck, err
	}
	t.called, t.answer = &Call{Attempt: w.Attempt, At: t.at}, nil
	if t.called.Sent, err = t.shown(sent); err != nil {
		return nil, err
	}
	step := t.steps[t.now.State.Visit.Number]
	step.Calls = append(step.Calls, t.called)
	step.Input = t.called.Sent
	return nil, nil
}

// find looks for the answer to what the execution waits for, and notes where it comes from. Returns false if there is none.
func (t *trial) find(p *definition.Phase) (ok bool, err error) {
	if t.answer != nil {
		return true, nil
	}
	if t.answer = t.given.take(p, t.now.State.Visit.Number); t.answer == nil {
		return false, nil
	}
	raw, err := t.answer.json()
	if err != nil {
		return false, err
	}
	if t.now.State.Wait.For == engine.ForCall {
		t.called.Answer, t.called.Source = raw, &t.answer.source
	} else {
		t.asked.Answer, t.asked.Source = raw, &t.answer.source
	}
	return true, nil
}

// respond answers a call.
func (t *trial) respond(p *definition.Phase) (engine.Input, error) {
	if ok, err := t.find(p); !ok {
		return t.wantOr(p, err)
	}
	in := engine.Answered{Visit: t.now.State.Visit.Number, Attempt: t.now.State.Wait.Attempt, Sent: t.called.Sent, Answer: t.answer.call}
	if t.answer.call == nil {
		in.Failure = t.answer.failure
	}
	return in, nil
}

// complete does a task.
func (t *trial) complete(p *definition.Phase) (engine.Input, error) {
	if ok, err := t.find(p); !ok {
		return t.wantOr(p, err)
	}
	return engine.TaskDone{Visit: t.now.State.Visit.Number, Outcome: t.answer.outcome, Variables: t.answer.variables}, nil
}

func (t *trial) wantOr(p *definition.Phase, err error) (engine.Input, error) {
	if err != nil {
		return nil, err
	}
	return t.want(t.given.missing(p))
}

// decide gives the decision of the approver whose turn it is.
func (t *trial) decide(p *definition.Phase, w *engine.Wait) (engine.Input, error) {
	signOff := w.For == engine.ForSignOff
	if signOff && t.answer.signOff == "" {
		return t.want(t.answer.path + ".signOff")
	}
	if ok, err := t.find(p); !ok {
		return t.wantOr(p, err)
	}
	if t.answer.decision == expire {
		return t.wake()
	}
	c := execution.Approvers(p, signOff)
	turn := engine.Turn(c, w.Votes)
	for _, i := range turn {
		by, decision := c.Approvers[i].ID, t.answer.decision
		switch {
		case signOff:
			decision = t.answer.signOff
		case decision == "":
			decision = t.answer.decisions[by]
		}
		if decision != "" {
			return engine.Decided{Visit: t.now.State.Visit.Number, Vote: engine.Vote{Approver: i, By: by, Approve: decision == approve}}, nil
		}
	}
	return t.want(t.answer.path + ".decisions." + c.Approvers[turn[0]].ID)
}

// record takes down what the last step would commit.
func (t *trial) record() error {
	for _, v := range t.now.History {
		if err := t.visit(v); err != nil {
			return err
		}
	}
	here := t.steps[t.now.State.Visit.Number]
	for _, ruling := range t.now.Rulings {
		rule := &Rule{When: ruling.Rule.When.Source(), Transition: ruling.Rule.Transition, Holds: &ruling.Holds}
		if ruling.Err != nil {
			rule.Holds, rule.Error = nil, new(ruling.Err.Error())
		}
		here.Rules = append(here.Rules, rule)
	}
	for _, e := range t.now.Effects {
		switch e := e.(type) {
		case engine.OpenTask:
			t.askTask(e)
		case engine.OpenApproval:
			t.askApproval(e)
		case engine.Tell:
			step := t.steps[e.Visit]
			step.Told = append(step.Told, t.people(execution.Told(e), "")...)
		case engine.ActOnRequest:
			here.RequestStatus = new(string(t.r.Request().Status))
		}
	}
	return nil
}

// visit takes down how a visit stands.
func (t *trial) visit(v engine.Visit) (err error) {
	p, step := t.d.Phase(v.PhaseID), t.steps[v.Number]
	if step == nil {
		step = &Step{PhaseID: p.ID, Name: p.Title(), Type: string(p.Type), StartedAt: v.StartedAt, Rules: []*Rule{}, Asks: []*Ask{}, Calls: []*Call{}, Told: []*Participant{}}
		t.steps[v.Number], t.out.Steps = step, append(t.out.Steps, step)
	}
	step.Status, step.FinishedAt, step.Attempts, step.Error = string(v.Status), v.FinishedAt, v.Attempts, v.Fault
	if to := p.Follow(v.Transition); to != nil {
		step.Transition, step.To = &v.Transition, &to.ID
	}
	if v.Input != nil {
		if step.Input, err = t.shown(v.Input); err != nil {
			return err
		}
	}
	if v.Output != nil {
		step.Output, err = t.shown(v.Output)
	}
	return err
}

func (t *trial) askTask(e engine.OpenTask) {
	t.asked, t.answer = &Ask{Kind: AskTask, Title: e.Title, DueAt: e.DueAt, Who: t.people(t.now.Worker(e.Phase), "responsible"), Outcomes: e.Phase.Ways()}, nil
	if e.Correct != nil {
		t.asked.Kind, t.asked.Outcomes = AskCorrection, []string{}
	}
	t.ask(e.Visit)
}

func (t *trial) askApproval(e engine.OpenApproval) {
	c := execution.Approvers(e.Phase, e.SignOff)
	var list []definition.Participant
	for _, one := range c.Approvers {
		list = append(list, definition.Participant{Type: one.Type, ID: one.ID})
	}
	before := t.asked
	t.asked = &Ask{
		Kind: AskApproval, Title: e.Phase.Title(), DueAt: e.ExpiresAt, Who: t.people(list, "approver"), Mode: new(string(c.Mode)),
		Sequential: c.Order == definition.Sequential, Outcomes: []string{approve, reject},
	}
	switch {
	case e.SignOff: // the answer to the task says what becomes of it
		t.asked.Kind, t.asked.Who = AskSignOff, t.people(list, "accountable")
		if t.answer.signOff != "" {
			t.asked.Answer, t.asked.Source = before.Answer, before.Source
		}
	default:
		t.answer = nil
		if e.ExpiresAt != nil {
			t.asked.Outcomes = append(t.asked.Outcomes, expire)
		}
	}
	if c.Mode == definition.Quorum {
		t.asked.Quorum = &c.Quorum
	}
	t.ask(e.Visit)
}

func (t *trial) ask(visit int) { t.steps[visit].Asks = append(t.steps[visit].Asks, t.asked) }

// people returns participants for the result, in a role if they have none.
func (t *trial) people(list []definition.Participant, role string) []*Participant {
	out := []*Participant{}
	for _, one := range list {
		p := &Participant{Role: one.Role, Type: one.Type, ID: one.ID}
		if role != "" {
			p.Role = role
		}
		out = append(out, p)
	}
	t.who = slices.Concat(t.who, out)
	return out
}
