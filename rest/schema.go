package rest

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/apperr"
	"atrium/internal/catalog"
	"atrium/internal/form"
	"atrium/internal/workflow/definition"
)

// refPrefix is where the document keeps its schemas.
const refPrefix = "#/components/schemas/"

// The document's own keywords.
const (
	fieldOrder = "x-order"               // of a property: its place in the object, which JSON does not keep
	patternDoc = "x-pattern-description" // of a pattern: what it asks for, in words

	propertyNames = "propertyNames" // JSON Schema's own, which huma's type lacks
)

// documented are the names of types in the document that their packages alone do not tell.
var documented = map[reflect.Type]string{
	reflect.TypeFor[apperr.Detail]():   "ErrorDetail",
	reflect.TypeFor[catalog.SLA]():     "OfferingSLA",
	reflect.TypeFor[form.Definition](): "Form",
	reflect.TypeFor[form.Field]():      "FormField",
}

// schemaNamer names the types of a registry; types outside of rest carry their package's name. The body of an operation
// has no name but the hint.
func schemaNamer(suffix string) func(reflect.Type, string) string {
	return func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name := t.Name()
		if name == "" {
			return hint
		}
		if known := documented[t]; known != "" {
			name = known
		} else if pkg := path.Base(t.PkgPath()); pkg != "." && pkg != "rest" && pkg != "gate" && !strings.EqualFold(pkg, name) {
			name = capital(pkg) + name
		}
		return name + suffix
	}
}

// finish adds to a registry's schemas what huma does not say: the order of the fields. In an answer every field is there
// that is not left out when empty, pointers may be null, objects among them, and fields may come to it that clients must
// not refuse.
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
					orNull(p)
				}
			}
			extend(p, fieldOrder, i)
		}
		spellOut(s)
	}
}

// spellOut writes in JSON Schema's own words what huma writes in its.
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

// orNull lets null stand for what s allows. What huma calls nullable has a type; a reference gets an alternative.
func orNull(s *huma.Schema) {
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

// definitionSchema is the component that describes the definitions of workflows.
const definitionSchema = "WorkflowDefinition"

// definitionFormat returns the JSON Schema that the format's own package keeps.
func definitionFormat() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject}
	_ = json.Unmarshal(definition.Schema(), &s.Extensions) // a constant, which a test reads
	delete(s.Extensions, "type")
	return s
}
