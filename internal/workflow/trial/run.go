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

	now   *execution.Rehearsed // the last step
	waits map[int]*waiting     // what visits wait for, by their numbers
}

// waiting is what one visit waits for.
type waiting struct {
	asked  *Ask
	called *Call
	answer *answer // nil when it was not looked for yet

	approvers *definition.ApprovalConfig // who decide, and by which rules; nil for what is no approval
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
		t.out.Stopped = nil
		if in, err = t.next(ctx); err != nil {
			return err
		}
	}
	if t.out.Status, t.out.Error = string(t.now.State.Status), t.now.State.Fault; t.out.Error == nil {
		t.out.Error = t.now.State.Trouble()
	}
	return nil
}

// next returns the input that the execution gets next; nil when the trial ends here.
func (t *trial) next(ctx context.Context) (engine.Input, error) {
	s, last := t.now.State, t.last()
	switch {
	case s.Status.Final():
		return nil, nil
	case t.spent():
		return t.stop(last.PhaseID, StopLimit, "", "A trial takes at most %d phases, %d seconds and %d KiB.", maxSteps, maxTime/time.Second, maxBytes>>10)
	case last.FinishedAt != nil && last.PhaseID == t.until:
		return t.stop(last.PhaseID, StopUntil, "", "The trial was to stop here, with what the phase leaves behind.")
	case s.Status == engine.Running:
		return engine.Continue{Visit: s.Visit.Number}, nil
	}
	open := s.Open()
	for _, at := range open {
		if in, err := t.arrive(ctx, at); in != nil || err != nil {
			return in, err
		}
	}
	return t.answered(open)
}

// last returns the visit that the last step has entered or, if it has entered none, changed.
func (t *trial) last() engine.Visit {
	return slices.MaxFunc(t.now.History, func(a, b engine.Visit) int { return a.Number - b.Number })
}

// spent reports whether a limit is reached.
func (t *trial) spent() bool {
	return len(t.out.Steps) >= maxSteps || t.bytes > maxBytes || t.budget.Over || time.Now().After(t.ends)
}

// arrive writes the call for which a branch waits, if it waits for one. It returns an input if the call cannot be made.
func (t *trial) arrive(ctx context.Context, at *engine.State) (engine.Input, error) {
	w := t.of(at)
	if starts(at) {
		return t.start(at)
	}
	if at.Wait.For != engine.ForCall || w.called != nil && w.called.Attempt == at.Wait.Attempt {
		return nil, nil
	}
	return t.call(ctx, at)
}

// answered returns the first input that one of the open branches gets: an answer or, if none has one, the moment that comes first. If
// there is none, the trial stops for the first reason.
func (t *trial) answered(open []*engine.State) (engine.Input, error) {
	var first *engine.State
	for _, at := range open {
		switch {
		case at.Wait.For == engine.ForIncident:
			_, _ = t.stop(at.Visit.PhaseID, StopIncident, "", "Somebody would have to resolve an incident.")
		case at.Visit.PhaseID == t.until:
			t.out.Stopped = nil
			return t.stop(at.Visit.PhaseID, StopUntil, "", "The trial was to stop here, where the phase waits.")
		case at.Wait.For == engine.ForTimer && (first == nil || at.Wait.Until.Before(*first.Wait.Until)):
			first = at
		}
	}
	for _, at := range open {
		if in, err := t.take(at); in != nil || err != nil {
			return in, err
		}
	}
	if first != nil {
		return t.wake(first)
	}
	return nil, nil
}

// take returns the input for what a branch waits for from people or servers; nil for other waits, and for want of an answer.
func (t *trial) take(at *engine.State) (engine.Input, error) {
	p := t.d.Phase(at.Visit.PhaseID)
	switch at.Wait.For {
	case engine.ForCall:
		return t.respond(p, at)
	case engine.ForWorkflow:
		return t.comeBack(p, at)
	case engine.ForTask:
		return t.complete(p, at)
	case engine.ForApproval, engine.ForSignOff:
		return t.decide(p, at)
	}
	return nil, nil
}

// of returns what the visit of a state waits for.
func (t *trial) of(at *engine.State) *waiting {
	w := t.waits[at.Visit.Number]
	if w == nil {
		w = &waiting{}
		t.waits[at.Visit.Number] = w
	}
	return w
}

// stop ends the trial in a phase, unless it has stopped in another branch before.
func (t *trial) stop(phaseID, reason, answer, message string, args ...any) (engine.Input, error) {
	if t.out.Stopped != nil {
		return nil, nil
	}
	t.out.Stopped = &Stop{PhaseID: phaseID, Reason: reason, Message: fmt.Sprintf(message, args...)}
	if answer != "" {
		t.out.Stopped.Answer = &answer
	}
	return nil, nil
}

// want ends the trial for want of an answer.
func (t *trial) want(at *engine.State, path string) (engine.Input, error) {
	return t.stop(at.Visit.PhaseID, StopAnswer, path, "The trial needs an answer to go on: %s.", path)
}

// wake lets the moment come for which a state waits.
func (t *trial) wake(at *engine.State) (engine.Input, error) {
	if at.Wait.Until.After(t.at) {
		t.at = *at.Wait.Until
	}
	return engine.Woke{Visit: at.Visit.Number}, nil
}

// call writes the call that a state waits for, at its moment.
func (t *trial) call(ctx context.Context, at *engine.State) (stuck engine.Input, err error) {
	if at.Wait.Until.After(t.at) {
		t.at = *at.Wait.Until
	}
	sent, stuck, err := t.r.Call(ctx, t.tx.Client, at.Visit, t.at)
	if err != nil || stuck != nil {
		return stuck, err
	}
	w := t.of(at)
	w.called, w.answer = &Call{Attempt: at.Wait.Attempt, At: t.at}, nil
	if w.called.Sent, err = t.shown(sent); err != nil {
		return nil, err
	}
	step := t.steps[at.Visit.Number]
	step.Calls = append(step.Calls, w.called)
	step.Input = w.called.Sent
	return nil, nil
}

// find looks for the answer to what a state waits for, and notes where it comes from. Returns false if there is none.
func (t *trial) find(p *definition.Phase, at *engine.State) (ok bool, err error) {
	w := t.of(at)
	if w.answer != nil {
		return true, nil
	}
	if w.answer = t.given.take(p, at.Visit.Number); w.answer == nil {
		return false, nil
	}
	raw, err := w.answer.json()
	if err != nil {
		return false, err
	}
	if w.called != nil {
		w.called.Answer, w.called.Source = raw, &w.answer.source
	} else {
		w.asked.Answer, w.asked.Source = raw, &w.answer.source
	}
	return true, nil
}

// respond answers a call.
func (t *trial) respond(p *definition.Phase, at *engine.State) (engine.Input, error) {
	if ok, err := t.find(p, at); !ok {
		return t.wantOr(p, at, err)
	}
	w := t.of(at)
	in := engine.Answered{Visit: at.Visit.Number, Attempt: at.Wait.Attempt, Sent: w.called.Sent, Answer: w.answer.call}
	if w.answer.call == nil {
		in.Failure = w.answer.failure
	}
	return in, nil
}

// complete does a task.
func (t *trial) complete(p *definition.Phase, at *engine.State) (engine.Input, error) {
	if ok, err := t.find(p, at); !ok {
		return t.wantOr(p, at, err)
	}
	w := t.of(at)
	return engine.TaskDone{Visit: at.Visit.Number, Outcome: w.answer.outcome, Variables: w.answer.variables}, nil
}

func (t *trial) wantOr(p *definition.Phase, at *engine.State, err error) (engine.Input, error) {
	if err != nil {
		return nil, err
	}
	return t.want(at, t.given.missing(p))
}

// decide gives the decision of the approver whose turn it is.
func (t *trial) decide(p *definition.Phase, at *engine.State) (engine.Input, error) {
	w, signOff := t.of(at), at.Wait.For == engine.ForSignOff
	if signOff && w.answer.signOff == "" {
		return t.want(at, w.answer.path+".signOff")
	}
	if ok, err := t.find(p, at); !ok {
		return t.wantOr(p, at, err)
	}
	if w.answer.decision == expire {
		return t.wake(at)
	}
	c := w.approvers
	turn := engine.Turn(c, at.Wait.Votes)
	for _, i := range turn {
		by, decision := c.Approvers[i].ID, w.answer.decision
		switch {
		case signOff:
			decision = w.answer.signOff
		case decision == "":
			decision = w.answer.decisions[by]
		}
		if decision != "" {
			return engine.Decided{Visit: at.Visit.Number, Vote: engine.Vote{Approver: i, By: by, Approve: decision == approve}}, nil
		}
	}
	return t.want(at, w.answer.path+".decisions."+c.Approvers[turn[0]].ID)
}

// record takes down what the last step would commit.
func (t *trial) record() error {
	for _, v := range t.now.History {
		if err := t.visit(v); err != nil {
			return err
		}
	}
	here := t.steps[t.last().Number]
	for visit, rulings := range t.now.Rulings {
		for _, ruling := range rulings {
			rule := &Rule{When: ruling.Rule.When.Source(), Transition: ruling.Rule.Transition, Holds: &ruling.Holds}
			if ruling.Err != nil {
				rule.Holds, rule.Error = nil, new(ruling.Err.Error())
			}
			t.steps[visit].Rules = append(t.steps[visit].Rules, rule)
		}
	}
	for _, e := range t.now.Effects {
		switch e := e.(type) {
		case engine.OpenTask:
			t.askTask(e)
		case engine.OpenApproval:
			t.askApproval(e)
		case engine.Tell:
			step := t.steps[e.Visit]
			step.Told = append(step.Told, t.people(t.now.Told(e), "")...)
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
		step = &Step{PhaseID: p.ID, Name: p.Title(), Type: string(p.Type), Branch: branchOf(v), StartedAt: v.StartedAt, Rules: []*Rule{}, Asks: []*Ask{}, Calls: []*Call{}, Told: []*Participant{}}
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
