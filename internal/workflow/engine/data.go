package engine

import (
	"fmt"
	"maps"
	"strings"

	"atrium/internal/workflow/definition"
)

// Invalid is a rule of a DATA phase that was violated.
type Invalid struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// dataPhase computes variables, or checks data against rules.
type dataPhase struct{}

func (dataPhase) enter(r *run, p *definition.Phase) {
	if p.Data.Kind == definition.Validate {
		validate(r, p)
		return
	}
	b, output := r.bind(), map[string]any{}
	var all definition.Bounds
	for _, a := range p.Data.Set {
		v, err := a.Value.Value(r.ctx, b)
		if err == nil {
			err = all.Take(v)
		}
		if err != nil {
			r.failedExpression(a.Variable, err)
			return
		}
		output[a.Variable] = v
	}
	r.leave(p, definition.Next, output)
}

func validate(r *run, p *definition.Phase) {
	b := r.bind()
	var invalid []Invalid
	for i, rule := range p.Data.Rules {
		holds, err := rule.Check.Bool(r.ctx, b)
		if err != nil {
			r.failedExpression(fmt.Sprintf("Rule %d", i+1), err)
			return
		}
		if !holds {
			message := rule.Message
			if message == "" {
				message = fmt.Sprintf("Rule %d does not hold.", i+1)
			}
			invalid = append(invalid, Invalid{Field: rule.Field, Message: message})
		}
	}
	output := map[string]any{"valid": len(invalid) == 0, "errors": rows(invalid)}
	switch {
	case len(invalid) == 0:
		r.leave(p, definition.Next, output)
	case p.Data.OnInvalid == definition.Route:
		r.leave(p, definition.Invalid, output)
	case p.Data.OnInvalid == definition.Ask:
		r.state.Visit.Input = output
		r.effects = append(r.effects, OpenTask{Visit: r.state.Visit.Number, Phase: p.Named(r.variables), Title: p.Title(), Correct: invalid})
		r.wait(Wait{For: ForTask})
	default:
		messages := make([]string, len(invalid))
		for i, one := range invalid {
			messages[i] = one.Message
		}
		r.fail(ValidationFailed, strings.Join(messages, " "))
	}
}

// rows returns faults as variables.
func rows(invalid []Invalid) []any {
	out := make([]any, len(invalid))
	for i, one := range invalid {
		out[i] = map[string]any{"field": one.Field, "message": one.Message}
	}
	return out
}

// resume applies the corrected fields and runs the rules again.
func (dataPhase) resume(r *run, p *definition.Phase, in Input) error {
	done, ok := in.(TaskDone)
	if !ok || r.state.Wait.For != ForTask {
		return ErrStale
	}
	if done.Outcome != "" && done.Outcome != definition.Next {
		return ErrNoWay
	}
	if len(done.Variables) > 0 && r.env.Request != nil {
		old, _ := r.env.Request["fields"].(map[string]any)
		fields := maps.Clone(old)
		if fields == nil {
			fields = map[string]any{}
		}
		maps.Copy(fields, done.Variables)
		r.env.Request = maps.Clone(r.env.Request)
		r.env.Request["fields"] = fields
		r.effects = append(r.effects, SetFields{fields})
	}
	r.state.Visit.Attempts++
	validate(r, p)
	return nil
}
