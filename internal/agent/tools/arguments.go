package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/op"
)

// brief lists the keys of a schema that a model gets to see. The other rules reach it as errors when it breaks them.
var brief = []string{"type", "format", "enum", "minimum", "maximum", "items", "properties", "required", "additionalProperties", "description"}

const maxDescription = 120 // characters of an argument's description

// Arguments returns the JSON Schema of a tool's arguments, made from the input of its operation: all fields, or only the named
// ones. It returns an error for a name that the operation does not have.
func Arguments(info *op.Info, only ...string) (map[string]any, error) {
	in := info.Input
	properties, required := map[string]any{}, []string{}
	missing := slices.Clone(only)
	shown := func(name string) bool {
		missing = slices.DeleteFunc(missing, func(s string) bool { return s == name })
		return len(only) == 0 || slices.Contains(only, name)
	}
	for _, p := range in.Params {
		if p.Name == "version" || !shown(p.Name) {
			continue
		}
		rule, err := briefly(p.Schema, p.Doc)
		if err != nil {
			return nil, err
		}
		if p.In == "path" {
			required = append(required, p.Name)
			delete(rule, "description")
		}
		properties[p.Name] = rule
	}
	if in.HasBody() {
		for name, s := range in.Body.Properties {
			if !shown(name) {
				continue
			}
			rule, err := briefly(s, s.Description)
			if err != nil {
				return nil, err
			}
			if info.Action == op.Update && in.Nullable(name) { // null takes the value away
				rule["type"] = []any{rule["type"], "null"}
			}
			properties[name] = rule
			if slices.Contains(in.Body.Required, name) {
				required = append(required, name)
			}
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s has no %s", info.Name, strings.Join(missing, ", "))
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}, nil
}

// briefly reduces a schema to what a model needs.
func briefly(rule any, doc string) (map[string]any, error) {
	raw, err := json.Marshal(rule)
	if err != nil {
		return nil, fmt.Errorf("write a rule: %w", err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read a rule: %w", err)
	}
	for key := range out {
		if !slices.Contains(brief, key) {
			delete(out, key)
		}
	}
	if first, _, _ := strings.Cut(doc, ". "); first != "" {
		out["description"] = strings.TrimSuffix(string([]rune(first)[:min(maxDescription, len([]rune(first)))]), ".")
	}
	return out, nil
}
