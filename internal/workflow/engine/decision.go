package engine

import (
	"fmt"

	"atrium/internal/workflow/definition"
)

// decisionPhase takes the transition of the first rule that is true, else the default.
type decisionPhase struct{}

func (decisionPhase) enter(r *run, p *definition.Phase) {
	b := r.bind()
	for i, rule := range p.Decision.Rules {
		holds, err := rule.When.Bool(r.ctx, b)
		if err != nil {
			r.failedExpression(fmt.Sprintf("Rule %d", i+1), err)
			return
		}
		if holds {
			r.leave(p, rule.Transition, nil)
			return
		}
	}
	r.leave(p, p.Decision.Default, nil)
}

func (decisionPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }
