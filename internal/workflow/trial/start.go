package trial

import (
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// starts reports whether a state waits for an execution of another workflow.
func starts(at *engine.State) bool {
	return at.Wait.For == engine.ForWorkflow || at.Wait.For == engine.ForStart
}

// start writes which workflow a branch would start, and with what. It returns an input if the branch does not wait for its end: the trial
// itself starts nothing.
func (t *trial) start(at *engine.State) (engine.Input, error) {
	w := t.of(at)
	if w.called == nil {
		w.called = &Call{Attempt: at.Wait.Attempt, At: t.at}
		var err error
		if w.called.Sent, err = t.shown(at.Visit.Input); err != nil {
			return nil, err
		}
		step := t.steps[at.Visit.Number]
		step.Calls = append(step.Calls, w.called)
	}
	if at.Wait.For == engine.ForStart {
		return engine.Returned{Visit: at.Visit.Number, Attempt: at.Wait.Attempt, Status: engine.Running}, nil
	}
	return nil, nil
}

// comeBack ends what a branch would have started.
func (t *trial) comeBack(p *definition.Phase, at *engine.State) (engine.Input, error) {
	if ok, err := t.find(p, at); !ok {
		return t.wantOr(p, at, err)
	}
	a := t.of(at).answer
	in := engine.Returned{Visit: at.Visit.Number, Attempt: at.Wait.Attempt, Status: engine.Completed, Phases: a.phases}
	if a.failure != "" {
		in.Status, in.Phases, in.Why = engine.Failed, nil, a.failure
	}
	return in, nil
}
