package request

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"atrium/ent"
	"atrium/internal/desk/sla"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/strictjson"
)

// Variables returns a request as the API shows it: the value of the variable request in expressions. Numbers in its fields are
// json.Number.
func Variables(r *ent.Request) (map[string]any, error) {
	fields, err := fieldsOf(r)
	if err != nil {
		return nil, err
	}
	row, out := reflect.ValueOf(r).Elem(), make(map[string]any, len(apiFields))
	for _, f := range apiFields {
		switch f.Name {
		case "sla":
			out[f.Name] = standing(r)
		case "fields":
			out[f.Name] = fields
		case "number":
			out[f.Name] = nil // rules see a request before it is filed
			if r.Number > 0 {
				out[f.Name] = r.Number
			}
		default:
			out[f.Name] = plain(row.FieldByName(f.Go), !strings.HasSuffix(f.Type, "!") || f.Type == "ID!")
		}
	}
	return out, nil
}

// apiFields are the fields that the API shows of a request.
var apiFields = ent.EntityNamed("Request").Fields

// plain returns a column's value as JSON has it. An empty text is null in an id, and where no text means none.
func plain(v reflect.Value, orNull bool) any {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v, orNull = v.Elem(), true
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return moment(&value)
	case map[string]string:
		texts := make(map[string]any, len(value))
		for k, text := range value {
			texts[k] = text
		}
		return texts
	}
	if v.Kind() == reflect.String {
		if orNull && v.Len() == 0 {
			return nil
		}
		return v.String()
	}
	return v.Interface()
}

// standing returns how a request stands against its service levels; nil when it has none.
func standing(r *ent.Request) any {
	s := sla.StatusOf(r.SLAState, r.ResponseDueAt, r.ResolutionDueAt)
	if s == nil {
		return nil
	}
	return map[string]any{"state": orNull(&s.State), "responseDueAt": moment(s.ResponseDueAt), "resolutionDueAt": moment(s.ResolutionDueAt)}
}

// fieldsOf decodes a request's answers to its form. Numbers are json.Number.
func fieldsOf(r *ent.Request) (map[string]any, error) {
	if len(r.Fields) == 0 {
		return map[string]any{}, nil
	}
	var fields strictjson.Object
	if err := json.Unmarshal(r.Fields, &fields); err != nil {
		return nil, fmt.Errorf("read the request's fields: %w", err)
	}
	if fields == nil { // null was sent, which answers show as {}
		return map[string]any{}, nil
	}
	return fields, nil
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
