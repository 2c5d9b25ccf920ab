package engine

import "atrium/internal/workflow/definition"

// startPhase continues at once, unless the execution should file a request first and could not: that is an incident. SKIP
// then continues without a request.
type startPhase struct{}

func (startPhase) enter(r *run, p *definition.Phase) {
	if f := r.env.Refused; f != nil {
		r.raise(f.Code, f.Message)
		return
	}
	r.leave(p, definition.Next, nil)
}

func (startPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }

// endPhase completes the execution.
type endPhase struct{}

func (endPhase) enter(r *run, p *definition.Phase) {
	r.state.Status, r.state.Wait = Completed, nil
	r.finish(Completed, "")
	r.tell(p, "informed")
}

func (endPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }
