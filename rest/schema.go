package rest

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// refPrefix is the prefix of references to schemas.
const refPrefix = "#/components/schemas/"

// Keywords that huma's schema type does not have.
const (
	fieldOrder = "x-order"               // of a property: its position in the object, because JSON objects are unordered
	patternDoc = "x-pattern-description" // of a pattern: what it requires, in words

	propertyNames = "propertyNames" // a keyword of JSON Schema
)

// documented holds the schema names of types whose own name would be ambiguous.
var documented = map[reflect.Type]string{
	reflect.TypeFor[apperr.Detail]():   "ErrorDetail",
	reflect.TypeFor[catalog.SLA]():     "OfferingSLA",
	reflect.TypeFor[form.Definition](): "Form",
	reflect.TypeFor[form.Field]():      "FormField",
}

// schemaNamer returns a function that names schemas: the type's name and the suffix. Types outside of rest and gate have their
// package's name as a prefix, those of the agents' rooms "Agent". A type without a name, such as an operation's body, gets the hint.
func schemaNamer(suffix string) func(reflect.Type, string) string {
	return func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name := t.Name()
		if name == "" {
			return hint
		}
		pkg := path.Base(t.PkgPath())
		if strings.Contains(t.PkgPath(), "/internal/agent/") {
			pkg = "agent"
		}
		if known := documented[t]; known != "" {
			name = known
		} else if pkg != "." && pkg != "rest" && pkg != "gate" && !strings.EqualFold(pkg, name) {
			name = capital(pkg) + name
		}
		return name + suffix
	}
}

// finish adds to a registry's schemas what huma leaves out, such as the order of the fields. In schemas of answers a field is
// required unless it is omitted when empty, a pointer may be null (also one to an object), and additional properties are allowed,
// because later versions may add fields.
func finish(r huma.Registry, answers bool) {
	for name, s := range r.Map() {
		if answers {
			s.Required, s.AdditionalProperties = nil, nil
		}
		for i, f := range reflect.VisibleFields(r.TypeFromRef(refPrefix + name)) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if answers && !strings.Contains(options, "omit") {
				s.Required = append(s.Required, name)
				if f.Type.Kind() == reflect.Pointer {
					makeNullable(p)
				}
			}
			extend(p, fieldOrder, i)
		}
		spellOut(s)
	}
}

// spellOut translates huma's own keywords into JSON Schema: a pattern's description becomes an extension, and a nullable enum
// contains null.
func spellOut(s *huma.Schema) {
	if s.PatternDescription != "" {
		extend(s, patternDoc, s.PatternDescription)
		s.PatternDescription = ""
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
	for _, p := range s.Properties {
		spellOut(p)
	}
	if s.Items != nil {
		spellOut(s.Items)
	}
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok {
		spellOut(extra)
	}
}

// makeNullable lets s be null. Nullable needs a type in huma, so a reference becomes an anyOf of the reference and null.
func makeNullable(s *huma.Schema) {
	if s.Ref != "" {
		s.AnyOf, s.Ref = []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}, ""
	}
	s.Nullable = s.Type != ""
}

func extend(s *huma.Schema, key string, value any) {
	if s.Extensions == nil {
		s.Extensions = map[string]any{}
	}
	s.Extensions[key] = value
}

// definitionSchema is the component that describes the definitions of workflows as inputs take them. WorkflowDefinition would be the name
// that generators give the property of answers.
const definitionSchema = "WorkflowDefinitionInput"

// definitionFormat returns the JSON Schema of package definition.
func definitionFormat() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject}
	_ = json.Unmarshal(definition.Schema(), &s.Extensions) // a constant; a test decodes it
	delete(s.Extensions, "type")
	return s
}
