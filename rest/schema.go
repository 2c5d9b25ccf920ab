package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/apperr"
	"atrium/internal/catalog"
	"atrium/internal/form"
	"atrium/internal/op"
)

// object is a JSON object whose members keep their order, so that a document reads as its author meant it and comes
// out the same byte for byte.
type object []member

type member struct {
	key   string
	value any
}

// add appends a member unless its value is nil.
func (o *object) add(key string, value any) {
	if value != nil {
		*o = append(*o, member{key, value})
	}
}

// put replaces a member's value, or appends it.
func (o *object) put(key string, value any) {
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = value
			return
		}
	}
	o.add(key, value)
}

// get returns a member's value; nil when there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// object returns a member that is an object; nil when it is not.
func (o object) object(key string) object {
	v, _ := o.get(key).(object)
	return v
}

// text returns a member that is a string; "" when it is not.
func (o object) text(key string) string {
	v, _ := o.get(key).(string)
	return v
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeOrdered(&b, o)
	return b.Bytes(), err
}

// writeOrdered writes a value in one pass, where encoding/json would go over each object once for every object around it.
func writeOrdered(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case object:
		sep := byte('{')
		for _, m := range v {
			b.WriteByte(sep)
			sep = ','
			if err := writeOrdered(b, m.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeOrdered(b, m.value); err != nil {
				return err
			}
		}
		if len(v) == 0 {
			b.WriteByte('{')
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeOrdered(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	default:
		text, err := encode(v, 0)
		if err != nil {
			return err
		}
		b.Write(text)
	}
	return nil
}

// readOrdered reads one JSON value: objects as object, lists as []any, numbers as json.Number.
func readOrdered(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, fmt.Errorf("read JSON: %w", err)
			}
			value, err := readOrdered(dec)
			if err != nil {
				return nil, err
			}
			o = append(o, member{fmt.Sprint(key), value})
		}
		_, err = dec.Token()
		return o, err //nolint:wrapcheck // a closing brace, or the end of the text
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			value, err := readOrdered(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = dec.Token()
		return list, err //nolint:wrapcheck // a closing bracket, or the end of the text
	}
	return t, nil
}

// refPrefix is where the document keeps its schemas.
const refPrefix = "#/components/schemas/"

// documented are the names of types in the document that their packages alone do not tell.
var documented = map[reflect.Type]string{
	reflect.TypeFor[apperr.Detail]():   "ErrorDetail",
	reflect.TypeFor[catalog.SLA]():     "OfferingSLA",
	reflect.TypeFor[form.Definition](): "Form",
	reflect.TypeFor[form.Field]():      "FormField",
}

// typeName names a type in the document; types outside of rest carry their package's name.
func typeName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := documented[t]; name != "" {
		return name
	}
	name := t.Name()
	if name == "" {
		return hint
	}
	if pkg := path.Base(t.PkgPath()); pkg != "." && pkg != "rest" && pkg != "gate" && !strings.EqualFold(pkg, name) {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

// schemas turns huma's schemas into the document's. It only ever reads op.Schemas, which inputs are validated with: what
// it changes are copies. Answers have a registry of their own.
type schemas struct {
	answers    huma.Registry
	components map[string]object
}

func newSchemas() *schemas {
	return &schemas{answers: huma.NewMapRegistry(refPrefix, typeName), components: map[string]object{}}
}

// answer returns the schema of a success's body. An envelope is written out; what has a name is a reference.
func (c *schemas) answer(t reflect.Type) object {
	generic := strings.Contains(t.Name(), "[")
	s := c.answers.Schema(t, !generic, t.Name())
	return c.convert(s, t, reading{registry: c.answers, answer: true})
}

// input returns the schema of an operation's body, kept among the components under name.
func (c *schemas) input(in *op.Input, name string) object {
	if _, done := c.components[name]; !done {
		o := c.convert(in.Body, inputType(in.Body), reading{registry: op.Schemas, suffix: "Input", nullable: in.Nullable})
		c.components[name] = o
	}
	return object{{"$ref", refPrefix + name}}
}

// inputType returns the struct that a body's schema was made from, which knows the order of the fields.
func inputType(body *huma.Schema) reflect.Type {
	for name, s := range op.Schemas.Map() {
		if s == body {
			return op.Schemas.TypeFromRef(refPrefix + name)
		}
	}
	return nil
}

// reading is how schemas are to be understood.
type reading struct {
	registry huma.Registry
	answer   bool              // of an answer: every field is there, and pointers may be null
	suffix   string            // of the names of components
	nullable func(string) bool // fields of this very object that may be null; nil for what the schema says
}

// component returns a reference to the named schema behind a reference of huma's, and sees to it that it is there.
func (c *schemas) component(ref string, r reading) object {
	t := r.registry.TypeFromRef(ref)
	name := typeName(t, strings.TrimPrefix(ref, refPrefix)) + r.suffix
	if _, known := c.components[name]; !known {
		c.components[name] = object{} // types that hold themselves end here
		r.nullable = nil
		c.components[name] = c.convert(r.registry.SchemaFromRef(ref), t, r)
	}
	return object{{"$ref", refPrefix + name}}
}

// convert writes a schema of huma's as the document's; t, where it is known, tells the order of fields and which are
// pointers.
func (c *schemas) convert(s *huma.Schema, t reflect.Type, r reading) object {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s.Ref != "" {
		o := c.component(s.Ref, r)
		if s.Description != "" {
			o.add("description", s.Description)
		}
		return o
	}
	o := rules(s)
	if r.answer && t == reflect.TypeFor[Time]() {
		o.add("pattern", `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`)
	}
	if s.Items != nil {
		o.add("items", c.convert(s.Items, elem(t), r.inner()))
	}
	if s.Type == huma.TypeObject && len(s.Properties) > 0 {
		c.fields(&o, s, t, r)
	}
	switch extra := s.AdditionalProperties.(type) {
	case bool:
		o.add("additionalProperties", extra)
	case *huma.Schema:
		o.add("additionalProperties", c.convert(extra, elem(t), r.inner()))
	}
	c.choices(&o, "oneOf", s.OneOf, r)
	c.choices(&o, "anyOf", s.AnyOf, r)
	c.choices(&o, "allOf", s.AllOf, r)
	if s.Nullable {
		return orNull(o)
	}
	return o
}

// choices adds a list of schemas that a value is held against together.
func (c *schemas) choices(o *object, key string, list []*huma.Schema, r reading) {
	if len(list) == 0 {
		return
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = c.convert(s, nil, r.inner())
	}
	o.add(key, out)
}

// inner is the reading of what stands below an object's own fields.
func (r reading) inner() reading {
	r.nullable = nil
	return r
}

// elem returns what a list or map holds; nil when that is not known.
func elem(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return t.Elem()
	default:
		return nil
	}
}

// fields adds an object's properties, in the order of the struct's fields, and which of them are always there.
func (c *schemas) fields(o *object, s *huma.Schema, t reflect.Type, r reading) {
	properties, required := object{}, []string{}
	for _, f := range fieldsOf(t, s) {
		p := c.convert(s.Properties[f.name], f.typ, r.inner())
		pointer := f.typ != nil && f.typ.Kind() == reflect.Pointer
		if r.answer && pointer && !f.optional || r.nullable != nil && r.nullable(f.name) {
			p = orNull(p)
		}
		if !r.answer && f.name == "tags" && f.typ == reflect.TypeFor[map[string]string]() {
			tagRules(&p)
		}
		properties.add(f.name, p)
		if r.answer && !f.optional || !r.answer && slices.Contains(s.Required, f.name) {
			required = append(required, f.name)
		}
	}
	o.add("properties", properties)
	if len(required) > 0 {
		o.add("required", required)
	}
}

// tagRules adds what op checks of tags beyond their schema.
func tagRules(o *object) {
	o.add("maxProperties", 50)
	o.add("propertyNames", object{{"pattern", "^[A-Za-z0-9_.-]{1,64}$"}})
	o.put("additionalProperties", object{{"type", huma.TypeString}, {"maxLength", 256}})
}

// field is a property and what its struct field says of it.
type field struct {
	name     string
	typ      reflect.Type // nil when not known
	optional bool         // left out of an answer when empty
}

// fieldsOf returns the properties of s, those that t has in t's order, then the others by name.
func fieldsOf(t reflect.Type, s *huma.Schema) []field {
	var out []field
	seen := map[string]bool{}
	if t != nil && t.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			if s.Properties[name] == nil || seen[name] {
				continue
			}
			seen[name] = true
			out = append(out, field{name, f.Type, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")})
		}
	}
	known := len(out)
	for name := range s.Properties {
		if !seen[name] {
			out = append(out, field{name: name})
		}
	}
	slices.SortFunc(out[known:], func(a, b field) int { return strings.Compare(a.name, b.name) })
	return out
}

// rules writes what a schema says of a value itself, without what it holds.
func rules(s *huma.Schema) object {
	var o object
	text := func(key, v string) {
		if v != "" {
			o.add(key, v)
		}
	}
	text("type", s.Type)
	text("title", s.Title)
	text("description", s.Description)
	text("format", s.Format)
	text("contentEncoding", s.ContentEncoding)
	if len(s.Enum) > 0 {
		o.add("enum", slices.Clone(s.Enum))
	}
	o.add("default", s.Default)
	if len(s.Examples) > 0 {
		o.add("examples", s.Examples)
	}
	number(&o, "minimum", s.Minimum)
	number(&o, "exclusiveMinimum", s.ExclusiveMinimum)
	number(&o, "maximum", s.Maximum)
	number(&o, "exclusiveMaximum", s.ExclusiveMaximum)
	number(&o, "multipleOf", s.MultipleOf)
	number(&o, "minLength", s.MinLength)
	number(&o, "maxLength", s.MaxLength)
	text("pattern", s.Pattern)
	text("x-pattern-description", s.PatternDescription)
	number(&o, "minItems", s.MinItems)
	number(&o, "maxItems", s.MaxItems)
	number(&o, "minProperties", s.MinProperties)
	number(&o, "maxProperties", s.MaxProperties)
	flag := func(key string, is bool) {
		if is {
			o.add(key, true)
		}
	}
	flag("uniqueItems", s.UniqueItems)
	flag("readOnly", s.ReadOnly)
	flag("writeOnly", s.WriteOnly)
	flag("deprecated", s.Deprecated)
	return o
}

// number adds a bound that is set.
func number[N int | float64](o *object, key string, v *N) {
	if v != nil {
		o.add(key, *v)
	}
}

// orNull returns the schema of what o allows, or null.
func orNull(o object) object {
	if ref := o.get("$ref"); ref != nil {
		out := object{{"anyOf", []any{object{{"$ref", ref}}, object{{"type", "null"}}}}}
		out.add("description", o.get("description"))
		return out
	}
	one, ok := o.get("type").(string)
	if !ok {
		return o // anything, or null already
	}
	out := slices.Clone(o)
	out.put("type", []string{one, "null"})
	if enum, ok := o.get("enum").([]any); ok {
		out.put("enum", append(slices.Clone(enum), nil))
	}
	return out
}
