package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/workflow"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/strictjson"
	domain "atrium/internal/workflow"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/execution"
)

// Try runs a definition and changes nothing. It takes the right to change workflows, and to read requests if it is tried on one.
var Try = op.New("workflow.try", op.Spec{
	Resource: "Workflow", Action: op.Read, Scope: "workflows:write", Summary: "Try a workflow before it is published",
}, try).WithVerbs(func(Input) []string { return []string{"workflow.update"} })

// Input is a workflow or a definition, and what it is tried on.
type Input struct {
	ID *string `json:"id,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"The workflow. Its draft is tried, unless definition is given." example:"wf_01k9ye4ryzf7stj6dqnm8x2v3b"`
	On
	Until *string `json:"until,omitempty" nullable:"true" maxLength:"64" doc:"The phase at which to stop."`
}

// On is a definition, what starts it, and what it is answered.
type On struct {
	Definition op.Patch[domain.Definition] `json:"definition,omitzero" doc:"A definition as it is being written; needed without id."`
	Request    *string                     `json:"request,omitempty" nullable:"true" minLength:"1" maxLength:"64" doc:"A request that the caller may read, to try it on as if it were just filed." example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Fields     strictjson.Object           `json:"fields,omitempty" nullable:"true" doc:"The answers to the offering's form of a sample request, instead of a request."`
	Webhook    strictjson.Object           `json:"webhook,omitempty" nullable:"true" doc:"The call that would start it: {body, headers, method, receivedAt}. With it alone there is no request."`
	Input      strictjson.Object           `json:"input,omitempty" nullable:"true" doc:"What another workflow would call it with. Then its phases leave the status of the request alone."`
	Answers    strictjson.Object           `json:"answers,omitempty" nullable:"true" doc:"What phases are answered, by their ids: {outcome, variables, signOff} for a task, {decision} or {decisions: {approver: decision}} for an approval, {status, body, headers} or {failure} for a call, {phases} or {failure} for a called workflow. A list has one for each time that the phase asks. For a phase without one, the last answer in an execution of the workflow is taken; null stops there."`
}

func try(ctx context.Context, tx *op.Tx, in Input) (*Result, error) {
	d, err := compiled(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	until := op.Or(in.Until, "")
	if in.Until != nil && d.Phase(until) == nil {
		return nil, apperr.InvalidField("until", "is no phase of the definition")
	}
	t, err := ready(ctx, tx, d, in, until)
	if err != nil {
		return nil, err
	}
	if err := tx.Costly(sameForAll(ctx, tx), t.run); err != nil {
		return nil, err
	}
	if t.out.Variables, err = t.r.Variables(); err != nil {
		return nil, err
	}
	return t.out, t.name(ctx, tx)
}

// ready returns a trial that has not begun.
func ready(ctx context.Context, tx *op.Tx, d *definition.Definition, in Input, until string) (*trial, error) {
	of := execution.RehearsalOf{Definition: d}
	if err := begin(ctx, tx, in, &of); err != nil {
		return nil, err
	}
	given, err := readAnswers(ctx, tx, d, of.Request, of.Sample, in)
	if err != nil {
		return nil, err
	}
	if in.ID != nil {
		if given.last, err = loadLast(ctx, tx, *in.ID, given, d); err != nil {
			return nil, err
		}
	}
	r, err := execution.NewRehearsal(sameForAll(ctx, tx), tx, of)
	if err != nil {
		return nil, err
	}
	return &trial{tx: tx, r: r, d: d, given: given, until: until, at: tx.Now(ctx), steps: map[int]*Step{}, waits: map[int]*waiting{}, out: &Result{}}, nil
}

func sameForAll(ctx context.Context, tx *op.Tx) context.Context {
	return tx.Unfiltered(ctx, "the engine looks at the same rows for every caller")
}

// compiled returns the definition that is tried. The caller must see the workflow.
func compiled(ctx context.Context, tx *op.Tx, in Input) (*definition.Definition, error) {
	given, isGiven := op.Given(in.Definition)
	if in.ID == nil {
		if !isGiven {
			return nil, apperr.InvalidField("id", "is required unless definition is given")
		}
		return given.Compiled(ctx, tx)
	}
	w, err := tx.Workflow.Query().Where(workflow.ID(*in.ID)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the workflow: %w", err)
	}
	if isGiven {
		return given.Compiled(ctx, tx)
	}
	return domain.DraftOf(w).Compiled(tx.Unfiltered(ctx, "the person who saved a draft saw what it names"), tx)
}

// begin reads what the execution would begin with.
func begin(ctx context.Context, tx *op.Tx, in Input, of *execution.RehearsalOf) (err error) {
	if in.Request != nil && in.Fields != nil {
		return apperr.InvalidField("fields", "must not be given together with request")
	}
	if in.Webhook != nil {
		if of.Webhook, err = call(in.Webhook, tx.Now(ctx)); err != nil {
			return err
		}
	}
	if in.Input != nil {
		if of.Input, err = json.Marshal(in.Input); err != nil {
			return fmt.Errorf("write the input: %w", err)
		}
	}
	switch {
	case in.Request != nil:
		of.Request, err = loadRequest(ctx, tx, *in.Request)
	case in.Fields != nil || in.Webhook == nil:
		of.Sample = true
		of.Request, err = sample(tx, in.Fields, tx.Now(ctx))
	}
	return err
}

// loadRequest returns a request as it would be if it were just filed with the answers that it has now.
func loadRequest(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	if err := tx.MayWith(ctx, "requests:read", "request.read"); err != nil {
		return nil, err
	}
	r, err := tx.Request.Query().Where(request.ID(id)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	r.Status, r.Waiting, r.FirstResponseAt, r.AcceptedAt, r.CompletedAt, r.CancelledAt, r.MergedAt = request.StatusPENDING, false, nil, nil, nil, nil, nil
	return r, nil
}

// sample returns a request of the caller's that is nowhere stored.
func sample(tx *op.Tx, fields map[string]any, now time.Time) (*ent.Request, error) {
	r := &ent.Request{
		ID: "req_trial", CompanyID: tx.Principal().CompanyID, Title: "Trial", Status: request.StatusPENDING, Priority: request.DefaultPriority, Format: request.DefaultFormat,
		RequesterID: tx.Principal().ID, CreatedBy: tx.Principal().ID, CreatedAt: now, UpdatedAt: now,
	}
	if len(fields) == 0 {
		return r, nil
	}
	var err error
	if r.Fields, err = json.Marshal(fields); err != nil {
		return nil, fmt.Errorf("write the fields: %w", err)
	}
	return r, nil
}

// call returns the variable webhook of a call that would start the workflow.
func call(given strictjson.Object, now time.Time) (json.RawMessage, error) {
	of := reader{path: "webhook", given: given}
	of.keys("body", "headers", "method", "receivedAt")
	headers := map[string]any{}
	for name, value := range of.object("headers") {
		text, ok := value.(string)
		if !ok {
			of.fault("headers."+name, "must be a text")
		}
		headers[strings.ToLower(name)] = text
	}
	method, received := cmp.Or(of.text("method"), "POST"), cmp.Or(of.text("receivedAt"), now.UTC().Format(clock.Format))
	if _, err := time.Parse(time.RFC3339, received); err != nil {
		of.fault("receivedAt", "must be a time such as 2026-05-22T12:00:00Z")
	}
	if err := of.err(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(map[string]any{"body": given["body"], "headers": headers, "method": method, "receivedAt": received})
	if err != nil {
		return nil, fmt.Errorf("write the call: %w", err)
	}
	return raw, nil
}
