package form

import (
	"encoding/json"
	"strings"
)

// JSONSchema returns the JSON Schema of the values that a form accepts, for programs that fill it in. A field with visibleWhen is
// not required; its description says when it is.
func (d Definition) JSONSchema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range d.Fields {
		properties[f.Key] = f.jsonSchema()
		if f.Required && len(f.VisibleWhen) == 0 {
			required = append(required, f.Key)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (f Field) jsonSchema() map[string]any {
	s := map[string]any{"type": "string", "title": f.Title()}
	about := []string{}
	if f.Help != "" {
		about = append(about, f.Help)
	}
	if len(f.VisibleWhen) > 0 {
		when, _ := json.Marshal(f.VisibleWhen) // it was read from JSON
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
	case Number:
		s["type"] = "number"
		bound("minimum", "maximum")
	case Boolean:
		s["type"] = "boolean"
	case Date:
		s["format"] = "date"
	case DateTime:
		s["format"] = "date-time"
	case Email:
		s["format"] = "email"
	case URL:
		s["format"] = "uri"
	case Select:
		s["enum"] = f.Options
	case MultiSelect:
		s["type"], s["items"] = "array", map[string]any{"type": "string", "enum": f.Options}
		bound("minItems", "maxItems")
	case User:
		about = append(about, "The id of a user: see the tool users.")
	case Team:
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
