package execution

import (
	"bytes"
	"encoding/json"
	"fmt"

	"atrium/ent"
	domain "atrium/internal/desk/request"
	"atrium/internal/workflow/engine"
)

// decode reads JSON and preserves the digits of its numbers.
func decode(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

// encode returns a value as JSON for a column; nil for nil.
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

// requestVariables returns the variable request; nil for an execution without a request.
func requestVariables(r *ent.Request) (map[string]any, error) {
	if r == nil {
		return nil, nil // there is none
	}
	return domain.Variables(r)
}

// Standing returns the phases in which an execution stands now: one, several in a block; none before it begins. Of one that has ended it is
// the phase in which it ended.
func Standing(row *ent.Execution) []string {
	if bytes.Contains(row.State, []byte(`"Block":`)) { // else there is no need to read its variables
		if state, err := readState(row.State); err == nil && state.Block != nil {
			return state.Standing()
		}
	}
	if row.PhaseID != nil {
		return []string{*row.PhaseID}
	}
	return []string{}
}

// Variables returns the variables of an execution's expressions as the API shows them: request,
// webhook, phases, and input if another execution has called it.
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
		Input   json.RawMessage `json:"input,omitempty"`
		Phases  map[string]any  `json:"phases"`
	}{request, row.Webhook, row.Input, state.Shown()}
	if out.Phases == nil {
		out.Phases = map[string]any{}
	}
	if len(out.Webhook) == 0 {
		out.Webhook = json.RawMessage("null")
	}
	return json.Marshal(out)
}
