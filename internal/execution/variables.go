package execution

import (
	"bytes"
	"encoding/json"
	"fmt"

	"atrium/ent"
	domain "atrium/internal/request"
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

// requestVariables is the variable request; nil when there is none.
func requestVariables(r *ent.Request) (map[string]any, error) {
	if r == nil {
		return nil, nil // there is none
	}
	return domain.Variables(r)
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
