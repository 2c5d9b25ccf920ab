package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"atrium/internal/agent"
	"atrium/internal/form"
)

// schemaOf returns the arguments of a tool, made from its operation's input. An argument that the operation does not have is an
// error.
func schemaOf(t *tool) (*jsonschema.Schema, error) {
	arguments, err := agent.Arguments(t.info, t.only...)
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

// withoutForms takes the forms out of a list of offerings: each may be long, and the tool offering shows one.
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

// withSchema puts the JSON Schema of a request's fields in the place of an offering's form.
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
		o["fieldsSchema"] = fieldsSchema(def)
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

// fieldsSchema returns the JSON Schema of what a form takes. A field that is shown only sometimes is not required; its description
// says when it is.
func fieldsSchema(def form.Definition) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range def.Fields {
		properties[f.Key] = fieldSchema(f)
		if f.Required && len(f.VisibleWhen) == 0 {
			required = append(required, f.Key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func fieldSchema(f form.Field) map[string]any {
	s := map[string]any{"type": "string", "title": f.Title()}
	about := []string{}
	if f.Help != "" {
		about = append(about, f.Help)
	}
	if len(f.VisibleWhen) > 0 {
		when, _ := json.Marshal(f.VisibleWhen) // what was read from JSON can be written
		needed := "Only when "
		if f.Required {
			needed = "Required when "
		}
		about = append(about, needed+string(when)+".")
	}
	bound := func(least, most string) {
		if f.Min != nil {
			s[least] = *f.Min
		}
		if f.Max != nil {
			s[most] = *f.Max
		}
	}
	switch f.Type {
	case form.Number:
		s["type"] = "number"
		bound("minimum", "maximum")
	case form.Boolean:
		s["type"] = "boolean"
	case form.Date:
		s["format"] = "date"
	case form.DateTime:
		s["format"] = "date-time"
	case form.Email:
		s["format"] = "email"
	case form.URL:
		s["format"] = "uri"
	case form.Select:
		s["enum"] = f.Options
	case form.MultiSelect:
		s["type"], s["items"] = "array", map[string]any{"type": "string", "enum": f.Options}
		bound("minItems", "maxItems")
	case form.User:
		about = append(about, "The id of a user: see the tool users.")
	case form.Team:
		about = append(about, "The id of a team: see the tool teams.")
	default:
		bound("minLength", "maxLength")
	}
	if f.Pattern != "" {
		s["pattern"] = f.Pattern
	}
	if len(about) > 0 {
		s["description"] = strings.Join(about, " ")
	}
	return s
}
