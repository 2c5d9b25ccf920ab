package graph

import (
	"context"
	"encoding/json"

	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/op"
	"atrium/internal/workflow"
	"atrium/internal/workflow/trial"
)

func (r *mutationResolver) SendWorkflowCall(ctx context.Context, input trial.SendInput) (*generated.SendWorkflowCallPayload, error) {
	sent, err := resolve.Change(ctx, r.Engine, trial.Send, input, "id")
	return &generated.SendWorkflowCallPayload{Call: sent}, err
}

func (r *queryResolver) TryWorkflow(ctx context.Context, id *string, definition json.RawMessage, request *string, fields, webhook, input, answers json.RawMessage,
	until *string,
) (*trial.Result, error) {
	in := trial.Input{ID: id, On: trial.On{Request: request}, Until: until}
	if len(definition) > 0 && string(definition) != "null" {
		in.Definition = op.SetTo(workflow.NewDefinition(definition))
	}
	var err error
	if in.Fields, err = objectOf("fields", fields); err != nil {
		return nil, err
	}
	if in.Webhook, err = objectOf("webhook", webhook); err != nil {
		return nil, err
	}
	if in.Input, err = objectOf("input", input); err != nil {
		return nil, err
	}
	if in.Answers, err = objectOf("answers", answers); err != nil {
		return nil, err
	}
	return resolve.Run(ctx, r.Engine, trial.Try, in)
}
