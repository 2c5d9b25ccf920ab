package engine

import (
	"maps"
	"slices"
	"time"

	"atrium/internal/platform/text"
	"atrium/internal/workflow/definition"
)

// processPhase opens a task and waits until it is done. If there are accountable participants, they then sign its
// outcome off; a refusal opens the task again.
type processPhase struct{}

func (processPhase) enter(r *run, p *definition.Phase) { openTask(r, p) }

func openTask(r *run, p *definition.Phase) {
	title := p.Title()
	if p.Process.Title != nil {
		var err error
		if title, err = p.Process.Title.Text(r.ctx, r.bind()); err != nil {
			r.failedExpression("The title", err)
			return
		}
		if text.Blank(title) {
			title = p.Title() // what the expressions name may be empty
		}
	}
	t := OpenTask{Visit: r.state.Visit.Number, Phase: p.Named(r.variables), Title: clip(title)}
	if p.Process.DueMinutes > 0 {
		due := r.env.Now.Add(time.Duration(p.Process.DueMinutes) * time.Minute)
		t.DueAt = &due
	}
	r.effects = append(r.effects, t)
	r.state.Visit.Input = map[string]any{"title": t.Title}
	r.wait(Wait{For: ForTask})
}

func (processPhase) resume(r *run, p *definition.Phase, in Input) error {
	w := r.state.Wait
	switch in := in.(type) {
	case TaskDone:
		if w.For != ForTask {
			return ErrStale
		}
		way := in.Outcome
		if way == "" {
			way = definition.Next
		}
		if p.Follow(way) == nil {
			return ErrNoWay
		}
		output := maps.Clone(in.Variables)
		if output == nil {
			output = map[string]any{}
		}
		output["outcome"] = way
		if !SignedOff(p) {
			r.leave(p, way, output)
			return nil
		}
		r.effects = append(r.effects, OpenApproval{Visit: r.state.Visit.Number, Phase: p.Named(r.variables), SignOff: true})
		r.wait(Wait{For: ForSignOff, Outcome: way, Output: output})
		return nil
	case Decided:
		if w.For != ForSignOff {
			return ErrStale
		}
		if in.Approve {
			r.effects = append(r.effects, CloseApproval{r.state.Visit.Number, ApprovalApproved})
			r.leave(p, w.Outcome, w.Output)
			return nil
		}
		r.effects = append(r.effects, CloseApproval{r.state.Visit.Number, ApprovalRejected})
		r.state.Visit.Attempts++
		openTask(r, p)
		return nil
	}
	return ErrStale
}

// SignedOff reports whether a phase names accountable participants, who then sign the outcome of its task off.
func SignedOff(p *definition.Phase) bool {
	return slices.ContainsFunc(p.Participants, func(one definition.Participant) bool { return one.Role == "accountable" })
}
