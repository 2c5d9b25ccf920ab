package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atrium/internal/agent/tools"
	"atrium/internal/desk/form"
)

// schemaOf returns the schema of a tool's arguments, made from its operation's input. Returns an error for an argument that the
// operation does not have.
func schemaOf(t *tool) (*jsonschema.Schema, error) {
	arguments, err := tools.Arguments(t.info, t.only...)
	if err != nil {
		return nil, fmt.Errorf("the tool %s: %w", t.name, err)
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		return nil, fmt.Errorf("write the arguments of %s: %w", t.name, err)
	}
	out := &jsonschema.Schema{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("read the arguments of %s: %w", t.name, err)
	}
	return out, nil
}

// withoutForms removes the forms from a list of offerings. A form may be long, and the tool offering shows one.
func withoutForms(body []byte) ([]byte, error) {
	return edited(body, func(data any) error {
		rows, _ := data.([]any)
		for _, row := range rows {
			if o, ok := row.(map[string]any); ok {
				delete(o, "form")
			}
		}
		return nil
	})
}

// withSchema replaces an offering's form by the JSON Schema of a request's fields.
func withSchema(body []byte) ([]byte, error) {
	return edited(body, func(data any) error {
		o, ok := data.(map[string]any)
		if !ok || o["form"] == nil {
			return nil
		}
		raw, err := json.Marshal(o["form"])
		if err != nil {
			return fmt.Errorf("write the form: %w", err)
		}
		var def form.Definition
		if err := json.Unmarshal(raw, &def); err != nil {
			return fmt.Errorf("read the form: %w", err)
		}
		delete(o, "form")
		o["fieldsSchema"] = def.JSONSchema()
		return nil
	})
}

func edited(body []byte, change func(data any) error) ([]byte, error) {
	doc := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if err := change(doc["data"]); err != nil {
		return nil, err
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return out, nil
}
