package condition

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"atrium/ent/inboundwebhook"
	domain "atrium/ent/workflow"
	"atrium/internal/op"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow"
)

const maxCallers = 20 // workflows whose input is looked at

// givenFields lists what an execution of a workflow is begun with: what the last call of its inbound webhook held, as far as the caller may
// read calls, and what workflows that call it give.
func givenFields(ctx context.Context, tx *op.Tx, id string, drawn strictjson.Object) ([]*Field, error) {
	if id == "" {
		return inputFields(nil, drawn), nil
	}
	var out []*Field
	may, err := tx.Holds(ctx, "", "inboundcall.read")
	if err == nil && may {
		may, err = tx.Holds(ctx, "", "inboundwebhook.read")
	}
	if err != nil {
		return nil, err
	}
	if may {
		hook, err := tx.InboundWebhook.Query().Where(inboundwebhook.WorkflowID(id)).Order(inboundwebhook.ByCreatedAt(), inboundwebhook.ByID()).Limit(1).IDs(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the workflow's webhook: %w", err)
		}
		for _, one := range hook {
			if out, err = callFields(ctx, tx, one); err != nil {
				return nil, err
			}
		}
	}
	callers, err := tx.Workflow.Query().Where(workflow.Calling(id)).Order(domain.ByName(), domain.ByID()).Limit(maxCallers).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for what calls the workflow: %w", err)
	}
	var inputs []map[string]any
	for _, w := range callers {
		d, err := savedSketch(w)
		if err != nil {
			return nil, err
		}
		for _, p := range d.Phases {
			if input, ok := p.config["input"].(map[string]any); ok && p.kind == "CALL_WORKFLOW" && text(p.config["workflowId"]) == id {
				inputs = append(inputs, input)
			}
		}
	}
	return append(out, inputFields(inputs, drawn)...), nil
}

// read finds the names by which a definition reads its input.
var read = regexp.MustCompile(`(?:^|[^\w.])input\.([A-Za-z_]\w*)`)

// inputFields lists the values of the inputs that callers give, by the type that all of them have, and those that the definition reads.
func inputFields(inputs []map[string]any, drawn strictjson.Object) (out []*Field) {
	types := map[string]string{}
	for _, input := range inputs {
		for name, v := range input {
			if of := typeOf(v); types[name] == "" {
				types[name] = of
			} else if types[name] != of {
				types[name] = Any
			}
		}
	}
	if raw, err := json.Marshal(drawn); err == nil {
		for _, m := range read.FindAllStringSubmatch(string(raw), -1) {
			if types[m[1]] == "" {
				types[m[1]] = Any
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		out = append(out, &Field{Expression: "input" + member(name), Label: name, Group: "Input", Type: types[name], Optional: true})
	}
	return out
}

// typeOf is the type of a value that a caller gives: of a text with an expression in it, any.
func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "${") {
			return Any
		}
		return Text
	case json.Number:
		return Number
	case bool:
		return Boolean
	case []any:
		return List
	}
	return Any
}
