package rest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/gate"
)

//go:embed reference.html.tmpl
var referenceText string

var referenceTemplate = template.Must(template.New("reference").Funcs(template.FuncMap{"prose": prose, "fields": newTable, "fieldName": fieldName}).Parse(referenceText))

// referencePage renders an OpenAPI document as one HTML page that needs nothing else: no script, no font, no picture.
func referencePage(document []byte) ([]byte, error) {
	v, err := readOrdered(json.NewDecoder(bytes.NewReader(document)))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	doc, ok := v.(object)
	if !ok {
		return nil, errors.New("read the OpenAPI document: not an object")
	}
	p := &reference{doc: doc, shown: map[string]bool{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := referenceTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the reference: %w", err)
	}
	return out.Bytes(), nil
}

// reference is what the template shows.
type reference struct {
	doc   object
	shown map[string]bool // the schemas that stand under a group already

	BaseURL string
	Groups  []*refGroup
	Errors  []refError
}

// refGroup is a resource: what it looks like and what can be done with it.
type refGroup struct {
	Title, Anchor string
	Resources     []refResource
	Operations    []refOperation
}

// refResource is a schema that answers are made of.
type refResource struct {
	Name, Anchor, Sample string
	Fields               []refField
}

// refOperation is one method of one path.
type refOperation struct {
	ID, Summary, Method, Path, Scope string
	Parameters                       []refField
	Body                             []refField
	Answer                           refAnswer
	Errors                           []string // statuses
	Curl                             string
}

// refAnswer is the answer of a success.
type refAnswer struct {
	Status, Text    string
	Resource        string // whose schema it has; "" for none
	Anchor          string
	Enveloped, List bool
	Headers         []string
}

// refField is a parameter, or a field of a body.
type refField struct {
	Name, In, Type, Doc string
	Required            bool
	Rules               []string
}

// refError is one error code.
type refError struct {
	Status string
	Code   string
	Doc    string
}

// refTable is a table of fields and what they are called.
type refTable struct {
	What string
	Rows []refField
}

func newTable(what string, rows []refField) refTable { return refTable{what, rows} }

// Anchor returns the id of an operation's section.
func (o refOperation) Anchor() string { return "op-" + o.ID }

// Class returns what the method is coloured by.
func (o refOperation) Class() string { return strings.ToLower(o.Method) }

// Title returns the summary's first clause, for the table of contents.
func (o refOperation) Title() string {
	clause, _, _ := strings.Cut(o.Summary, " that ")
	if i := strings.IndexAny(clause, ",;:"); i > 0 {
		clause = clause[:i]
	}
	return clause
}

// Title names the resource in a heading: "The audit entry".
func (r refResource) Title() string { return "The " + words(r.Name) }

// Title names the resource in a sentence: "audit entry", or "audit entries" of a list.
func (a refAnswer) Title() string {
	if a.List {
		return words(plural(a.Resource))
	}
	return words(a.Resource)
}

// Needed tells whether the caller must send the field.
func (f refField) Needed() bool { return f.Required && f.In != "path" }

// words writes a type's name in lower case, with blanks.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (p *reference) read() error {
	p.BaseURL = "https://atrium.example"
	if servers, ok := p.doc.get("servers").([]any); ok {
		if s, ok := servers[0].(object); ok {
			p.BaseURL = s.text("url")
		}
	}
	byTag := map[string]*refGroup{}
	for _, path := range p.doc.object("paths") {
		item, _ := path.value.(object)
		for _, m := range item {
			o, _ := m.value.(object)
			tags, _ := o.get("tags").([]any)
			if len(tags) == 0 {
				return fmt.Errorf("%s %s has no tag", m.key, path.key)
			}
			tag := fmt.Sprint(tags[0])
			g := byTag[tag]
			if g == nil {
				g = &refGroup{Title: tag, Anchor: strings.ReplaceAll(strings.ToLower(tag), " ", "-")}
				byTag[tag] = g
				p.Groups = append(p.Groups, g)
			}
			p.addOperation(g, strings.ToUpper(m.key), path.key, o)
		}
	}
	for _, r := range allRefusals {
		p.Errors = append(p.Errors, refError{fmt.Sprint(gate.StatusOf(r.code)), string(r.code), r.doc})
	}
	return nil
}

func (p *reference) addOperation(g *refGroup, method, path string, o object) {
	out := refOperation{ID: o.text("operationId"), Summary: o.text("summary"), Method: method, Path: path, Scope: o.text("x-scope")}
	parameters, _ := o.get("parameters").([]any)
	for _, v := range parameters {
		param, _ := v.(object)
		out.Parameters = append(out.Parameters, p.parameter(p.follow(param)))
	}
	var body object
	if schema := o.object("requestBody").object("content").object("application/json").object("schema"); schema != nil {
		body = p.follow(schema)
		out.Body = p.fields("", body, nil, nil)
	}
	for _, m := range o.object("responses") {
		response, _ := m.value.(object)
		if m.key < "300" {
			out.Answer = p.success(g, m.key, response)
		} else if m.key >= "400" {
			out.Errors = append(out.Errors, m.key)
		}
	}
	out.Curl = p.curl(&out, body)
	g.Operations = append(g.Operations, out)
}

// follow returns what a reference stands for, or o itself.
func (p *reference) follow(o object) object {
	ref := o.text("$ref")
	if ref == "" {
		return o
	}
	at := p.doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.object(part)
	}
	return at
}

func (p *reference) parameter(o object) refField {
	schema := o.object("schema")
	row := refField{
		Name: o.text("name"), In: o.text("in"), Doc: o.text("description"), Required: o.get("required") == true,
		Type: p.typeOf(schema), Rules: p.rulesOf(schema),
	}
	if items := schema.object("items"); items != nil {
		row.Type = "comma list"
		if kind := p.typeOf(items); kind != huma.TypeString {
			row.Type += " of " + kind
		}
		row.Rules = p.rulesOf(items)
	}
	return row
}

// success reads the answer of a success, and shows its schema in the group when no other has.
func (p *reference) success(g *refGroup, status string, response object) refAnswer {
	a := refAnswer{Status: status, Text: response.text("description")}
	for _, h := range response.object("headers") {
		a.Headers = append(a.Headers, h.key)
	}
	schema := response.object("content").object("application/json").object("schema")
	if schema == nil {
		return a
	}
	if data := schema.object("properties").object("data"); data != nil {
		a.Enveloped, schema = true, data
		if items := data.object("items"); items != nil {
			a.List, schema = true, items
		}
	}
	a.Resource = strings.TrimPrefix(schema.text("$ref"), refPrefix)
	if a.Resource == "" {
		return a
	}
	a.Anchor = "schema-" + a.Resource
	if !p.shown[a.Resource] {
		p.shown[a.Resource] = true
		full := p.follow(schema)
		g.Resources = append(g.Resources, refResource{a.Resource, a.Anchor, indented(p.sample(a.Resource, "", full, true)), given(p.fields("", full, nil, nil))})
	}
	return a
}

// given returns the rows of an answer, where nothing is asked of the caller and what may be missing says so.
func given(rows []refField) []refField {
	for i := range rows {
		if !rows[i].Required {
			rows[i].Rules = append(rows[i].Rules, "Left out when there is none")
		}
		rows[i].Required = false
	}
	return rows
}

// fields lists an object's fields and, below each, those of the objects that it holds: "sla.calendarId".
func (p *reference) fields(prefix string, o object, within []string, rows []refField) []refField {
	required, _ := o.get("required").([]any)
	for _, m := range o.object("properties") {
		s, _ := m.value.(object)
		name := prefix + m.key
		rows = append(rows, refField{
			Name: name, Type: p.typeOf(s), Doc: s.text("description"), Rules: p.rulesOf(s), Required: slices.Contains(required, any(m.key)),
		})
		inner, refs := s, ""
		for deeper := true; deeper; {
			deeper = false
			if one := choice(inner); one != nil {
				inner, deeper = one, true
			}
			if ref := inner.text("$ref"); ref != "" {
				inner, refs, deeper = p.follow(inner), ref, true
			}
			if items := inner.object("items"); items != nil {
				inner, name, deeper = items, name+"[]", true
			}
			if extra, ok := inner.get("additionalProperties").(object); ok && len(extra.object("properties")) > 0 {
				inner, name, deeper = extra, name+".<key>", true
			}
		}
		if len(inner.object("properties")) > 0 && !slices.Contains(within, refs) {
			rows = p.fields(name+".", inner, append(slices.Clone(within), refs), rows)
		}
	}
	return rows
}

// choice returns the schema beside null in an anyOf; nil when it is something else.
func choice(o object) object {
	list, _ := o.get("anyOf").([]any)
	for _, v := range list {
		if one, ok := v.(object); ok && one.text("type") != "null" {
			return one
		}
	}
	return nil
}

// typeOf says what a value is, in words.
func (p *reference) typeOf(s object) string {
	if one := choice(s); one != nil {
		return p.typeOf(one) + " or null"
	}
	if s.text("$ref") != "" {
		return p.typeOf(p.follow(s))
	}
	kind, null := s.text("type"), ""
	if list, ok := s.get("type").([]any); ok {
		kind, null = fmt.Sprint(list[0]), " or null"
	}
	switch {
	case kind == "":
		kind = "any"
	case kind == "array":
		kind = "list of " + p.typeOf(s.object("items"))
		if kind == "list of any" {
			kind = "list"
		}
	case s.text("format") == "date-time":
		kind = "date-time"
	case kind == "object":
		if extra, ok := s.get("additionalProperties").(object); ok && extra.get("type") != nil {
			kind = "map of " + p.typeOf(extra)
		}
	}
	return kind + null
}

// rulesOf says what else a value must be.
func (p *reference) rulesOf(s object) []string {
	var out []string
	if enum, ok := s.get("enum").([]any); ok {
		var values []string
		for _, v := range enum {
			name, descending := strings.CutPrefix(fmt.Sprint(v), "-")
			if v != nil && !(descending && slices.Contains(enum, any(name))) {
				values = append(values, "`"+fmt.Sprint(v)+"`")
			}
		}
		out = append(out, "One of "+strings.Join(values, ", "))
	}
	between := func(low, high, unit string) {
		from, to := s.get(low), s.get(high)
		switch {
		case from != nil && to != nil:
			out = append(out, fmt.Sprintf("%v to %v%s", from, to, unit))
		case from != nil:
			out = append(out, fmt.Sprintf("At least %v%s", from, unit))
		case to != nil:
			out = append(out, fmt.Sprintf("At most %v%s", to, unit))
		}
	}
	between("minimum", "maximum", "")
	between("minLength", "maxLength", " characters")
	between("minItems", "maxItems", " entries")
	between("minProperties", "maxProperties", " entries")
	if doc := s.text("x-pattern-description"); doc != "" {
		out = append(out, capital(doc))
	} else if pattern := s.text("pattern"); pattern != "" && s.text("format") == "" {
		out = append(out, "Matches `"+pattern+"`")
	}
	if pattern := s.object("propertyNames").text("pattern"); pattern != "" {
		out = append(out, "Keys match `"+pattern+"`")
	}
	if extra := s.object("additionalProperties"); extra.get("maxLength") != nil {
		out = append(out, fmt.Sprintf("Values of at most %v characters", extra.get("maxLength")))
	}
	if def := s.get("default"); def != nil {
		out = append(out, fmt.Sprintf("Default `%v`", def))
	}
	if s.get("writeOnly") == true {
		out = append(out, "Never returned")
	}
	return out
}

// curl writes a call that works once the ids in it are someone's own.
func (p *reference) curl(o *refOperation, body object) string {
	path := samplePath(o.Path)
	if slices.ContainsFunc(o.Parameters, func(r refField) bool { return r.Name == "pageSize" }) {
		path += "?pageSize=50"
		if slices.ContainsFunc(o.Parameters, func(r refField) bool {
			return r.Name == "sort" && strings.Contains(strings.Join(r.Rules, ""), "`-createdAt`")
		}) {
			path += "&sort=-createdAt"
		}
	}
	lines := []string{`curl "` + p.BaseURL + path + `"`}
	if o.Method != http.MethodGet {
		lines[0] = "curl -X " + o.Method + ` "` + p.BaseURL + path + `"`
	}
	lines = append(lines, `-H "x-api-key: $ATRIUM_API_KEY"`)
	switch o.Method {
	case http.MethodPost:
		lines = append(lines, `-H "Idempotency-Key: $(uuidgen)"`)
	case http.MethodPatch, http.MethodDelete:
		lines = append(lines, `-H "If-Match: $ETAG"`)
	}
	if body != nil {
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+indented(p.sample(resourceAt(o.Path), "", body, false))+"'")
	}
	return strings.Join(lines, " \\\n  ")
}
