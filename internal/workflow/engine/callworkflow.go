package engine

import (
	"fmt"
	"strconv"

	"atrium/internal/platform/id"
	"atrium/internal/workflow/definition"
)

// workflowPhase starts an execution of another workflow. It waits until that has ended or, with wait false, until it is there.
type workflowPhase struct{}

// CalledID returns the id of the execution that an attempt of a visit starts.
func CalledID(executionID string, visit, attempt int) string {
	return id.Of("exe", executionID, strconv.Itoa(visit), strconv.Itoa(attempt))
}

func (workflowPhase) enter(r *run, p *definition.Phase) {
	input, err := p.Calls.Eval(r.ctx, r.bind())
	if err != nil {
		r.failedExpression("input", err)
		return
	}
	v := r.state.Visit
	called := CalledID(r.env.ExecutionID, v.Number, v.Attempts)
	v.Input = map[string]any{"workflowId": p.Calls.WorkflowID, "executionId": called, "input": input}
	r.effects = append(r.effects, StartWorkflow{Visit: v.Number, Phase: p, Attempt: v.Attempts, ExecutionID: called, Input: input})
	w := Wait{For: ForWorkflow, Attempt: v.Attempts}
	if !p.Calls.Wait {
		w.For = ForStart
	}
	r.wait(w)
}

func (workflowPhase) resume(r *run, p *definition.Phase, in Input) error {
	back, ok := in.(Returned)
	w := r.state.Wait
	if !ok || w.For != ForWorkflow && w.For != ForStart || back.Attempt != w.Attempt || w.For == ForWorkflow && !back.Status.Final() {
		return ErrStale
	}
	output := map[string]any{"executionId": CalledID(r.env.ExecutionID, in.visit(), back.Attempt)}
	switch {
	case w.For == ForStart:
		r.leave(p, definition.Next, output)
	case back.Status == Completed:
		output["status"], output["phases"] = string(back.Status), back.Phases
		r.leave(p, definition.Next, output)
	case back.Status == Cancelled:
		r.raise(WorkflowFailed, fmt.Sprintf("The execution %s of the called workflow was cancelled.", output["executionId"]))
	default:
		r.raise(WorkflowFailed, fmt.Sprintf("The execution %s of the called workflow has failed: %s", output["executionId"], back.Why))
	}
	return nil
}
