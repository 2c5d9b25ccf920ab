package engine

import "atrium/internal/workflow/definition"

// startPhase goes on at once.
type startPhase struct{}

func (startPhase) enter(r *run, p *definition.Phase)           { r.leave(p, definition.Next, nil) }
func (startPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }

// endPhase completes the execution.
type endPhase struct{}

func (endPhase) enter(r *run, p *definition.Phase) {
	r.state.Status, r.state.Wait = Completed, nil
	r.finish(Completed, "")
	r.tell(p, "informed")
}

func (endPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }
