package input

import (
	"errors"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// Param is one input field that comes from the path or the query.
type Param struct {
	Name   string // "status"; "tag.*" for a family of parameters: a map from what stands for the star to the values
	In     string // "path" or "query"
	Doc    string
	Schema *huma.Schema // of one value; List says whether there may be several, separated by commas
	List   bool
	def    string
	index  []int
	typ    reflect.Type
}

var (
	timeType   = reflect.TypeFor[*time.Time]()
	boolType   = reflect.TypeFor[*bool]()
	familyType = reflect.TypeFor[map[string][]string]()
)

// newParam reads the tags of a struct field; false if the field belongs to the body.
func newParam(f reflect.StructField) (Param, bool) {
	for _, in := range []string{"path", "query"} {
		name, ok := f.Tag.Lookup(in)
		if !ok {
			continue
		}
		p := Param{Name: name, In: in, Doc: f.Tag.Get("doc"), def: f.Tag.Get("default"), index: f.Index, typ: f.Type}
		one := f
		one.Index, one.Offset = nil, 0
		switch f.Type {
		case familyType:
			one.Type = reflect.TypeFor[string]()
			p.List = true
		case timeType:
			one.Type = reflect.TypeFor[time.Time]()
		case boolType:
			one.Type = reflect.TypeFor[bool]()
		default:
			if f.Type.Kind() == reflect.Slice {
				p.List, one.Type = true, f.Type.Elem()
			}
		}
		p.Schema = huma.SchemaFromField(schemas, one, "")
		p.Schema.Description = ""
		return p, true
	}
	return Param{}, false
}

// params sets the fields of v that come from the URL, and reports every parameter that is unknown, given twice or invalid.
func (in *Input) params(pathParam func(string) string, query url.Values, v reflect.Value) []apperr.Detail {
	var details []apperr.Detail
	known := 0
	for i := range in.Params {
		p := &in.Params[i]
		field := v.FieldByIndex(p.index)
		switch {
		case p.In == "path":
			v := pathParam(p.Name)
			if !Storable(v) {
				v = "" // no row has such an id, and databases refuse it
			}
			field.SetString(v)
			continue
		case p.typ == familyType:
			n, faults := p.family(query, field)
			known += n
			details = append(details, faults...)
			continue
		}
		values, given := query[p.Name]
		if given {
			known++
		} else if p.def != "" {
			values = []string{p.def}
		}
		if len(values) > 0 {
			details = append(details, p.set(field, values)...)
		}
	}
	if known < len(query) {
		details = append(details, in.unknown(query)...)
	}
	return append(details, in.unsortable(query["sort"])...)
}

// Query reads the query of a URL. Of a parameter that is a list each value is one of its own: a comma separates them, and %2C is data.
func (in *Input) Query(raw string) (url.Values, error) {
	if !strings.Contains(raw, ",") {
		return url.ParseQuery(raw)
	}
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, values, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			pairs[i] = name + "=" + strings.Join(in.Split(plain, values), "&"+name+"=")
		}
	}
	return url.ParseQuery(strings.Join(pairs, "&"))
}

// Split returns the values of a parameter that is a list, which commas separate; of any other parameter, the one.
func (in *Input) Split(name, values string) []string {
	if i := slices.IndexFunc(in.Params, func(p Param) bool {
		return p.In == "query" && p.List && (p.Name == name || p.typ == familyType && p.isMember(name))
	}); i < 0 {
		return []string{values}
	}
	return strings.Split(values, ",")
}

// unsortable reports a sort that the list does not have.
func (in *Input) unsortable(given []string) []apperr.Detail {
	for _, sort := range given {
		if len(in.Sorts) > 0 && !slices.Contains(in.Sorts, strings.TrimPrefix(sort, "-")) {
			return []apperr.Detail{{Field: "sort", Message: "must be one of: " + strings.Join(in.Sorts, ", ")}}
		}
	}
	return nil
}

// unknown reports the query parameters that the operation does not have.
func (in *Input) unknown(query url.Values) []apperr.Detail {
	var details []apperr.Detail
next:
	for name := range query {
		for i := range in.Params {
			p := &in.Params[i]
			if p.In == "query" && (p.Name == name || p.typ == familyType && p.isMember(name)) {
				continue next
			}
		}
		details = append(details, apperr.Detail{Field: name, Message: "is not a known parameter"})
	}
	return details
}

// prefix returns the common prefix of a family's names: "tag." of "tag.*".
func (p *Param) prefix() string { return strings.TrimSuffix(p.Name, "*") }

// member returns the key of a parameter of the family: of tag.<key>, and of tag[<key>], which is OpenAPI's style for objects.
func (p *Param) member(name string) (key string, ok bool) {
	if key, ok = strings.CutPrefix(name, p.prefix()); ok {
		return key, true
	}
	if key, ok = strings.CutPrefix(name, strings.TrimSuffix(p.prefix(), ".")+"["); ok {
		return strings.CutSuffix(key, "]")
	}
	return "", false
}

func (p *Param) isMember(name string) bool {
	_, ok := p.member(name)
	return ok
}

// family gathers tag.<key>=<value>; n is the number of parameters of the family.
func (p *Param) family(query url.Values, field reflect.Value) (n int, details []apperr.Detail) {
	members := map[string][]string{}
	for name, values := range query {
		key, ok := p.member(name)
		if !ok {
			continue
		}
		n++
		members[key] = append(members[key], values...)
	}
	if n > 0 {
		field.Set(reflect.ValueOf(members))
	}
	return n, p.badFamily(members)
}

// maxListed bounds the values of one comma list.
const (
	maxListed         = 100
	maxListedExceeded = "must name at most 100 values"
)

// badFamily reports invalid keys and values, and lists that would make a statement longer than a database accepts.
func (p *Param) badFamily(members map[string][]string) []apperr.Detail {
	var details []apperr.Detail
	if len(members) > maxLabels {
		details = append(details, apperr.Detail{Field: strings.TrimSuffix(p.prefix(), "."), Message: "must name at most 50 keys"})
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		fault := func(msg string) { details = append(details, apperr.Detail{Field: p.prefix() + key, Message: msg}) }
		if !labelKey.MatchString(key) {
			fault("is not a tag's key")
		}
		if !Storable(members[key]...) {
			fault(nulMessage)
		}
		if len(members[key]) > maxListed {
			fault(maxListedExceeded)
		}
	}
	return details
}

// set parses the values into the field.
func (p *Param) set(field reflect.Value, values []string) []apperr.Detail {
	fault := func(msg string) []apperr.Detail { return []apperr.Detail{{Field: p.Name, Message: msg}} }
	if p.List {
		if len(values) > maxListed {
			return fault(maxListedExceeded)
		}
	} else if len(values) > 1 {
		return fault("must be given once")
	}
	if !Storable(values...) {
		return fault(nulMessage)
	}
	for _, s := range values {
		v, msg := p.parse(s)
		if msg != "" {
			return fault(msg)
		}
		if p.List {
			field.Set(reflect.Append(field, v.Convert(field.Type().Elem())))
		} else {
			field.Set(v)
		}
	}
	return nil
}

// parse reads one value; msg says what it must be if it is invalid.
func (p *Param) parse(s string) (v reflect.Value, msg string) {
	var checked any = s
	kind := p.typ.Kind()
	if kind == reflect.Slice {
		kind = p.typ.Elem().Kind()
	}
	switch {
	case p.typ == timeType:
		t, ok := text.Moment(s)
		if !ok {
			return v, "must be an RFC 3339 date-time"
		}
		return reflect.ValueOf(&t), ""
	case p.typ == boolType:
		if s != "true" && s != "false" {
			return v, "must be true or false"
		}
		return reflect.ValueOf(new(s == "true")), ""
	case kind == reflect.Int:
		if whole, ok := text.Whole(s); ok {
			s = whole
		}
		n, err := strconv.Atoi(s)
		if err != nil || s[0] == '+' {
			return v, "must be a whole number"
		}
		v, checked = reflect.ValueOf(n), float64(n)
	default:
		v = reflect.ValueOf(s)
	}
	return v, p.valid(checked)
}

// valid checks a value against the parameter's schema and returns the message of a fault.
func (p *Param) valid(value any) string {
	res := &huma.ValidateResult{}
	huma.Validate(schemas, p.Schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, res)
	if len(res.Errors) == 0 {
		return ""
	}
	if e, ok := errors.AsType[*huma.ErrorDetail](res.Errors[0]); ok {
		return fixPlural.Replace(e.Message)
	}
	return "does not fit"
}

// checkParams checks the URL's fields of an input that was built in Go. Zero values count as not given.
func (in *Input) checkParams(v reflect.Value) []apperr.Detail {
	var details []apperr.Detail
	for i := range in.Params {
		p := &in.Params[i]
		field := v.FieldByIndex(p.index)
		if field.IsZero() || p.In == "path" {
			continue
		}
		var values []any
		switch {
		case p.typ == timeType, p.typ == boolType:
			continue
		case p.typ == familyType:
			if members, ok := field.Interface().(map[string][]string); ok {
				details = append(details, p.badFamily(members)...)
			}
			continue
		case p.List:
			if field.Len() > maxListed {
				details = append(details, apperr.Detail{Field: p.Name, Message: maxListedExceeded})
				continue
			}
			for i := range field.Len() {
				values = append(values, checkable(field.Index(i)))
			}
		default:
			values = []any{checkable(field)}
			if p.Name == "sort" {
				details = append(details, in.unsortable([]string{field.String()})...)
			}
		}
		for _, value := range values {
			msg := p.valid(value)
			if text, ok := value.(string); ok && !Storable(text) {
				msg = nulMessage
			}
			if msg != "" {
				details = append(details, apperr.Detail{Field: p.Name, Message: msg})
			}
		}
	}
	return details
}

// nulMessage is the message for a text that no database column accepts.
const nulMessage = "must not contain the NUL character or invalid UTF-8"

// Storable reports whether database columns accept the texts: valid UTF-8 without NUL.
func Storable(texts ...string) bool {
	for _, text := range texts {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// checkable returns a text or a whole number as a schema checks it.
func checkable(v reflect.Value) any {
	if v.Kind() == reflect.Int {
		return float64(v.Int())
	}
	return v.String()
}
