package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// schemas are what inputs are validated with. Documents derive schemas of their own from Input.BodyType.
var schemas = NewSchemas("#/components/schemas/", schemaName)

// NewSchemas returns a registry of schemas in which a patch within an object, such as a number that may be null, is what it holds.
func NewSchemas(prefix string, namer func(t reflect.Type, hint string) string) huma.Registry {
	r := huma.NewMapRegistry(prefix, namer)
	r.RegisterTypeAlias(reflect.TypeFor[graphql.Omittable[*int]](), reflect.TypeFor[*int]())
	return r
}

// SchemaOf returns the rules of a struct that occurs in inputs. It is shared: do not modify it.
func SchemaOf(t reflect.Type) *huma.Schema { return schemas.Schema(t, false, "") }

// schemaName names a schema after its package and type, because several packages have a type of the same name.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		return hint
	}
	if pkg := path.Base(t.PkgPath()); pkg != "." && !strings.EqualFold(pkg, name) {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	return name
}

// init sets the messages of details: what the field must be, never what it was.
func init() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	validation.MsgUnexpectedProperty = "is not a known field"
	validation.MsgExpectedRFC3339DateTime = "must be an RFC 3339 date-time"
	validation.MsgExpectedBoolean = "must be a boolean"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be a list"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedArrayItemsUnique = "must not name anything twice"
	validation.MsgExpectedOneOf = "must be one of: %s"
	validation.MsgExpectedMinimumNumber = "must be at least %.16g"
	validation.MsgExpectedMaximumNumber = "must be at most %.16g"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedBePattern = "must be %s"
	validation.MsgExpectedMatchPattern = "must match %s"
	validation.MsgExpectedMinItems = "must have at least %d entries"
	validation.MsgExpectedMaxItems = "must have at most %d entries"
	validation.MsgExpectedMaxProperties = "must have at most %d entries"
	validation.MsgExpectedRequiredProperty = requiredMark + "%s"
}

// fixPlural corrects the noun after the number 1.
var fixPlural = strings.NewReplacer(" 1 characters", " 1 character", " 1 entries", " 1 entry")

// requiredMark begins the message of a missing field, which the validator reports at the field's parent.
const requiredMark = "required:"

// Input is how an operation's input struct is read and checked.
type Input struct {
	Body     *huma.Schema // nil when the input has no body
	BodyType reflect.Type // the struct that Body was made from, for documents with schemas of their own
	Params   []Param
	Sorts    []string        // the fields that the parameter sort may name; empty: its schema decides
	nullable map[string]bool // body fields that may be null
}

// known caches the inputs by type, because a schema must not change while it is used for validation.
var known = struct {
	sync.Mutex
	inputs map[reflect.Type]*Input
}{inputs: map[reflect.Type]*Input{}}

// Of returns the input of the struct type t. sorts are the fields that the parameter sort may name. It panics for an invalid tag,
// which happens at start.
func Of(t reflect.Type, sorts []string) *Input {
	known.Lock()
	defer known.Unlock()
	if known.inputs[t] == nil {
		known.inputs[t] = newInput(t)
	}
	in := *known.inputs[t]
	in.Sorts = sorts
	return &in
}

// newInput reads the tags of the struct t.
func newInput(t reflect.Type) *Input {
	in := &Input{nullable: map[string]bool{}}
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		if p, ok := newParam(f); ok {
			in.Params = append(in.Params, p)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue // set by the product itself, never by a caller
		}
		if name == "" {
			panic(fmt.Sprintf("input %s: field %s has no json, path or query tag", t, f.Name))
		}
		fields = append(fields, in.bodyField(f, name))
	}
	if len(fields) > 0 {
		in.BodyType = reflect.StructOf(fields)
		in.Body = schemas.Schema(in.BodyType, false, schemaName(t, "")+"Body")
		for _, p := range in.Body.Properties {
			p.Nullable = false // nulls are removed before validation (see checkObject)
			Labels(p)
		}
	}
	return in
}

// bodyField records whether the field may be null, and returns the field for the schema generator: a patch becomes the pointer
// that it holds.
func (in *Input) bodyField(f reflect.StructField, name string) reflect.StructField {
	typ := f.Type
	if typ.PkgPath() == reflect.TypeFor[graphql.Omittable[int]]().PkgPath() {
		value, _ := typ.MethodByName("Value")
		typ = value.Type.Out(0)
	}
	in.nullable[name] = f.Tag.Get("nullable") == "true"
	tag := strings.Replace(string(f.Tag), `nullable:"true"`, "", 1)
	if typ.Kind() == reflect.Pointer {
		tag = strings.Replace(tag, `json:"`+f.Tag.Get("json")+`"`, `json:"`+name+`,omitempty"`, 1)
		switch typ.Elem().Kind() {
		case reflect.Struct, reflect.Map, reflect.Slice:
			typ = typ.Elem()
		}
	}
	return reflect.StructField{Name: f.Name, Type: typ, Tag: reflect.StructTag(tag)}
}

// HasBody reports whether the input reads a request body.
func (in *Input) HasBody() bool { return in.Body != nil }

// Optional reports whether the input has a body whose fields may all be left out.
func (in *Input) Optional() bool { return in.HasBody() && len(in.Body.Required) == 0 }

// Nullable reports whether the body field may be null.
func (in *Input) Nullable(field string) bool { return in.nullable[field] }

// Decode fills dst (a pointer to the input struct) from a body and URL parameters, and returns one detail per fault.
func (in *Input) Decode(raw []byte, pathParam func(string) string, query url.Values, dst any) []apperr.Detail {
	v := reflect.ValueOf(dst).Elem()
	details := in.params(pathParam, query, v)
	if in.Body == nil {
		return append(details, noFields(raw)...)
	}
	bodyDetails := in.checkBody(raw)
	if len(bodyDetails) == 0 {
		err := json.Unmarshal(raw, dst)
		if err != nil {
			err = json.Unmarshal(in.spelled(raw), dst)
		}
		if err != nil {
			fault := apperr.Detail{Field: "body", Message: "does not fit"}
			if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
				fault.Field = e.Field // such as a number beyond an int
			}
			bodyDetails = append(bodyDetails, fault)
		}
	} else {
		_ = json.Unmarshal(raw, dst) // what of it fits, for Operation.AllFaults
	}
	return append(details, bodyDetails...)
}

// objectOf decodes the JSON text of a body. Returns a detail for a text that is no JSON object.
func objectOf(raw []byte) (map[string]any, []apperr.Detail) {
	v, err := strictjson.Decode(raw)
	if err != nil {
		return nil, []apperr.Detail{{Field: "body", Message: "is not valid JSON: " + err.Error()}}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, []apperr.Detail{{Field: "body", Message: "must be a JSON object"}}
	}
	return m, nil
}

// noFields returns one detail per fault of the body of a call that takes no fields: it may be empty, or {}.
func noFields(raw []byte) []apperr.Detail {
	if len(raw) == 0 {
		return nil
	}
	m, details := objectOf(raw)
	for name := range m {
		details = append(details, apperr.Detail{Field: name, Message: validation.MsgUnexpectedProperty})
	}
	return sorted(details)
}

// checkBody returns one detail per fault of the JSON text.
func (in *Input) checkBody(raw []byte) []apperr.Detail {
	m, details := objectOf(raw)
	if details != nil {
		return details
	}
	if bytes.Contains(raw, []byte(`\u0000`)) {
		details = nulRows("", m, details)
	}
	return sorted(append(details, in.checkObject(m)...))
}

// sorted orders details by their fields.
func sorted(details []apperr.Detail) []apperr.Detail {
	slices.SortStableFunc(details, func(a, b apperr.Detail) int { return strings.Compare(a.Field, b.Field) })
	return details
}

// checkObject returns one detail per fault of a decoded body. It modifies the body.
func (in *Input) checkObject(m map[string]any) []apperr.Detail {
	var details []apperr.Detail
	for name, value := range m {
		if value != nil {
			continue
		}
		if _, known := in.Body.Properties[name]; !known {
			continue // the schema reports it
		}
		delete(m, name)
		if !in.nullable[name] {
			if !slices.Contains(in.Body.Required, name) {
				details = append(details, apperr.Detail{Field: name, Message: "must not be null"})
			}
		}
	}
	if in.BodyType != nil {
		dropNulls(in.BodyType, m)
	}
	moments(in.Body, m)
	details = append(details, in.unhashable(m)...)
	return append(details, in.checkValue(m)...)
}

// dropNulls removes null from optional objects in a body. The schema cannot express "an object or null", but a body that was read
// with a null in it can be sent back.
func dropNulls(t reflect.Type, m map[string]any) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of, optional := f.Type, f.Type.Kind() == reflect.Pointer
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			continue
		}
		switch v := m[name].(type) {
		case nil:
			if optional {
				delete(m, name)
			}
		case map[string]any:
			dropNulls(of, v)
		case []any:
			for _, one := range v {
				if one, ok := one.(map[string]any); ok {
					dropNulls(of, one)
				}
			}
		}
	}
}

// unhashable removes objects and lists from the lists in m whose items must be unique, because the validator finds duplicates by
// hashing and would panic. It returns a detail for each.
func (in *Input) unhashable(m map[string]any) []apperr.Detail {
	var details []apperr.Detail
	for name, p := range in.Body.Properties {
		list, ok := m[name].([]any)
		if !ok || !p.UniqueItems {
			continue
		}
		for i, v := range list {
			if !hashable(v) {
				details = append(details, apperr.Detail{Field: fmt.Sprintf("%s[%d]", name, i), Message: validation.MsgExpectedString})
			}
		}
		m[name] = slices.DeleteFunc(list, func(v any) bool { return !hashable(v) })
	}
	return details
}

// hashable reports whether a decoded JSON value can be a map's key.
func hashable(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// checkValue checks a decoded body, without its allowed nulls, against the schema.
func (in *Input) checkValue(m map[string]any) []apperr.Detail {
	res := &huma.ValidateResult{}
	body, _ := undotted(m)
	huma.Validate(schemas, in.Body, huma.NewPathBuffer(make([]byte, 0, 64), 0), huma.ModeWriteToServer, body, res)
	var details []apperr.Detail
	for _, err := range res.Errors {
		e, ok := errors.AsType[*huma.ErrorDetail](err)
		if !ok {
			details = append(details, apperr.Detail{Field: "body", Message: err.Error()})
			continue
		}
		e.Location = strings.ReplaceAll(e.Location, noDot, ".")
		d := apperr.Detail{Field: e.Location, Message: fixPlural.Replace(e.Message)}
		if name, missing := strings.CutPrefix(e.Message, requiredMark); missing {
			d = apperr.Detail{Field: strings.TrimPrefix(e.Location+"."+name, "."), Message: "is required"}
		}
		if d.Field == "" {
			d.Field = "body"
		}
		blank := strings.HasSuffix(d.Message, blankMessage) && slices.ContainsFunc(details, func(said apperr.Detail) bool { return said.Field == d.Field })
		if !blank { // that a text is empty says that it is blank
			details = append(details, d)
		}
	}
	details = append(details, blanks(in.Body, m, "")...)
	details = append(details, in.badLabels(m)...)
	return details
}

// noDot stands for a dot in a key while a body is validated: behind the key "a.b" huma's path would stay in "a", and the next fault be
// named tags.title.
const noDot = "\x1f"

// undotted returns a decoded value whose keys have no dots, and whether it is another one.
func undotted(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		var out map[string]any
		for key, value := range v {
			name := strings.ReplaceAll(key, ".", noDot)
			to, other := undotted(value)
			if name == key && !other {
				continue
			}
			if out == nil {
				out = maps.Clone(v)
			}
			delete(out, key)
			out[name] = to
		}
		if out != nil {
			return out, true
		}
	case []any:
		var out []any
		for i, value := range v {
			if to, other := undotted(value); other {
				if out == nil {
					out = slices.Clone(v)
				}
				out[i] = to
			}
		}
		if out != nil {
			return out, true
		}
	}
	return v, false
}

// nulRows adds a detail for every string with a NUL character, which no database column accepts.
func nulRows(field string, v any, details []apperr.Detail) []apperr.Detail {
	refuse := apperr.Detail{Field: strings.TrimPrefix(field, "."), Message: "must not contain the NUL character"}
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			details = append(details, refuse)
		}
	case []any:
		for i, e := range v {
			details = nulRows(fmt.Sprintf("%s[%d]", field, i), e, details)
		}
	case map[string]any:
		for k, e := range v {
			if strings.ContainsRune(k, 0) {
				details = append(details, refuse)
				continue
			}
			details = nulRows(field+"."+k, e, details)
		}
	}
	return details
}

// Check checks an input that was built in Go (by GraphQL, the command line or a worker) against the same rules.
func (in *Input) Check(v any) ([]apperr.Detail, error) {
	details := in.checkParams(reflect.ValueOf(v))
	if in.Body == nil {
		return details, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("check the input: %w", err)
	}
	return append(details, in.checkBody(raw)...), nil
}

// CheckSent checks a body that an API has bound to the struct itself. sent are the decoded fields as the caller sent them. The
// details are those that Decode returns for the same body.
func (in *Input) CheckSent(sent map[string]any) []apperr.Detail {
	if in.Body == nil {
		return nil
	}
	body, _ := withFloats(sent).(map[string]any)
	return sorted(append(nulRows("", body, nil), in.checkObject(body)...))
}

// withFloats returns a copy of a decoded JSON value with its numbers as float64, which the validator expects.
func withFloats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = withFloats(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withFloats(e)
		}
		return out
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v.String() // out of range: refused as not a number
		}
		return f
	}
	return v
}
