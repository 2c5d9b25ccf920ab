package execution

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/internal/clock"
	"atrium/internal/workflow/engine"
)

// decode reads JSON with the digits of its numbers kept.
func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// encode writes a value for a column of JSON; nil for nothing.
func encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write %T: %w", v, err)
	}
	return raw, nil
}

func readState(raw json.RawMessage) (engine.State, error) {
	var s engine.State
	if err := decode(raw, &s); err != nil {
		return s, fmt.Errorf("read the execution's state: %w", err)
	}
	return s, nil
}

// requestVariables is a request as the API shows it.
func requestVariables(r *ent.Request) (map[string]any, error) {
	if r == nil {
		return nil, nil // there is none
	}
	fields := map[string]any{}
	if err := decode(r.Fields, &fields); err != nil {
		return nil, fmt.Errorf("read the request's fields: %w", err)
	}
	tags := map[string]any{}
	for k, v := range r.Tags {
		tags[k] = v
	}
	return map[string]any{
		"id": r.ID, "serviceId": r.ServiceID, "offeringId": r.OfferingID, "title": r.Title, "description": orNull(&r.Description),
		"status": string(r.Status), "priority": string(r.Priority), "fields": fields, "tags": tags, "createdBy": r.CreatedBy,
		"assigneeId": orNull(r.AssigneeID), "teamId": orNull(r.TeamID), "executionId": orNull(r.ExecutionID),
		"createdAt": r.CreatedAt.UTC().Format(clock.Format), "updatedAt": r.UpdatedAt.UTC().Format(clock.Format),
		"acceptedAt": moment(r.AcceptedAt), "completedAt": moment(r.CompletedAt), "cancelledAt": moment(r.CancelledAt), "sla": nil,
	}, nil
}

func orNull(s *string) any {
	if s == nil || *s == "" {
		return nil
	}
	return *s
}

func moment(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC().Format(clock.Format)
}

// Variables are what an execution's expressions read, as the API shows them: request, webhook, phases.
func Variables(row *ent.Execution) (json.RawMessage, error) {
	state, err := readState(row.State)
	if err != nil {
		return nil, err
	}
	request, err := requestVariables(row.Edges.Request)
	if err != nil {
		return nil, err
	}
	out := struct {
		Request map[string]any  `json:"request"`
		Webhook json.RawMessage `json:"webhook"`
		Phases  map[string]any  `json:"phases"`
	}{request, row.Webhook, state.Phases}
	if out.Phases == nil {
		out.Phases = map[string]any{}
	}
	if len(out.Webhook) == 0 {
		out.Webhook = json.RawMessage("null")
	}
	return json.Marshal(out)
}
