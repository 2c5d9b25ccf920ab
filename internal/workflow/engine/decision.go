package engine

import (
	"context"
	"fmt"

	"atrium/internal/workflow/definition"
)

// decisionPhase takes the transition of the first rule that is true, else the default.
type decisionPhase struct{}

func (decisionPhase) enter(r *run, p *definition.Phase) {
	rulings := rulingsOf(r.ctx, p.Decision, r.bind())
	if r.env.Ruled != nil {
		r.env.Ruled(r.state.Visit.Number, rulings)
	}
	if n := len(rulings); n > 0 {
		switch last := rulings[n-1]; {
		case last.Err != nil:
			r.failedExpression(fmt.Sprintf("Rule %d", n), last.Err)
			return
		case last.Holds:
			r.leave(p, last.Rule.Transition, nil)
			return
		}
	}
	r.leave(p, p.Decision.Default, nil)
}

func (decisionPhase) resume(*run, *definition.Phase, Input) error { return ErrStale }

// Ruling is what a rule of a DECISION gave.
type Ruling struct {
	Rule  definition.DecisionRule
	Holds bool
	Err   error // why it gave nothing
}

// rulingsOf evaluates the rules of a DECISION in order, up to the first that holds or fails.
func rulingsOf(ctx context.Context, c *definition.DecisionConfig, b definition.Bound) []Ruling {
	var list []Ruling
	for _, rule := range c.Rules {
		holds, err := rule.When.Bool(ctx, b)
		list = append(list, Ruling{rule, holds, err})
		if holds || err != nil {
			break
		}
	}
	return list
}
