package rest

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed reference.html.tmpl guides.html.tmpl
var referenceFiles embed.FS

var referenceTemplate = template.Must(template.New("reference.html.tmpl").
	Funcs(template.FuncMap{"prose": prose, "fields": newTable, "fieldName": fieldName}).ParseFS(referenceFiles, "*.tmpl"))

// reference renders the document as one HTML page that loads nothing else: no script, font or image.
func (d *document) reference() ([]byte, error) {
	guides, err := newGuides(d.Servers[0].URL, d.authURL)
	if err != nil {
		return nil, err
	}
	page := reference{BaseURL: d.Servers[0].URL, Errors: allRefusals, Guides: guides}
	shown := map[string]bool{} // the schemas that are already shown under a group
	for _, o := range d.operations {
		i := slices.IndexFunc(page.Groups, func(g refGroup) bool { return g.Title == o.Tags[0] })
		if i < 0 {
			i = len(page.Groups)
			page.Groups = append(page.Groups, refGroup{Title: o.Tags[0]})
		}
		g, described := &page.Groups[i], d.describe(o, page.BaseURL)
		g.Operations = append(g.Operations, described)
		for _, a := range described.Answers {
			if name := a.Resource; name != "" && !shown[name] {
				shown[name] = true
				schema := d.answers.Map()[name]
				g.Resources = append(g.Resources, refResource{Name: name, Sample: indented(a.example), Fields: asResponseRows(d.fields("", schema, nil, nil))})
			}
		}
	}
	var out bytes.Buffer
	if err := referenceTemplate.Execute(&out, page); err != nil {
		return nil, fmt.Errorf("render the reference: %w", err)
	}
	return out.Bytes(), nil
}

// reference is the data of the template.
type reference struct {
	BaseURL string
	Groups  []refGroup
	Errors  []refusal
	Guides  *guides
}

// refGroup is a tag of the document with its resources and operations.
type refGroup struct {
	Title      string
	Resources  []refResource
	Operations []refOperation
}

// Anchor returns the id of the group's section.
func (g refGroup) Anchor() string { return strings.ReplaceAll(strings.ToLower(g.Title), " ", "-") }

// refResource is a schema that answers are made of.
type refResource struct {
	Name, Sample string
	Fields       []refField
}

// Title names the resource in a heading: "The audit entry".
func (r refResource) Title() string { return "The " + words(r.Name) }

// refOperation is an operation of the document with what the page shows of it.
type refOperation struct {
	*huma.Operation
	Parameters []refField
	Body       []refField
	Answers    []refAnswer // by status
	Errors     []string    // statuses
	Curl       string
}

// Anchor returns the id of the operation's section.
func (o refOperation) Anchor() string { return "op-" + o.OperationID }

// Class returns the CSS class of the method.
func (o refOperation) Class() string { return strings.ToLower(o.Method) }

// Title returns the summary's first clause, for the table of contents.
func (o refOperation) Title() string {
	if i := strings.IndexAny(o.Summary, ",;:"); i > 0 {
		return o.Summary[:i]
	}
	return o.Summary
}

// refAnswer is the answer of a success.
type refAnswer struct {
	Status   string
	Resource string // the name of its schema; "" for a body without a name
	Empty    bool   // there is no body
	Bytes    string // the media type of a body that is no JSON
	In       string // the field that holds the resource; "" when the body is the resource
	List     bool
	Headers  []string
	When     string // where an operation has several answers: what this one means

	example json.RawMessage // of the resource
}

// Title names the resource in a sentence: "audit entry", or "audit entries" of a list.
func (a refAnswer) Title() string {
	if a.List {
		return words(plural(a.Resource))
	}
	return words(a.Resource)
}

// refField is a parameter, or a field of a body.
type refField struct {
	Name, In, Type, Doc string
	Required            bool
	Rules               []string
}

// Needed reports whether the caller must send the field.
func (f refField) Needed() bool { return f.Required && f.In != "path" }

// refTable is a table of fields and their heading.
type refTable struct {
	What string
	Rows []refField
}

func newTable(what string, rows []refField) refTable { return refTable{what, rows} }

// describe collects what the page shows of an operation.
func (d *document) describe(o *huma.Operation, baseURL string) refOperation {
	out := refOperation{Operation: o}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
		}
		out.Parameters = append(out.Parameters, d.parameter(p))
	}
	if o.RequestBody != nil && o.RequestBody.Content["application/json"] != nil {
		out.Body = d.fields("", d.follow(o.RequestBody.Content["application/json"].Schema), nil, nil)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status < "300" {
			out.Answers = append(out.Answers, success(status, o.Responses[status]))
		} else if status >= "400" {
			out.Errors = append(out.Errors, status)
		}
	}
	if len(out.Answers) > 1 {
		for i, a := range out.Answers {
			out.Answers[i].When = o.Responses[a.Status].Description
		}
	}
	out.Curl = curl(o, baseURL)
	return out
}

func (d *document) parameter(p *huma.Param) refField {
	row := refField{Name: p.Name, In: p.In, Doc: p.Description, Required: p.Required, Type: d.typeOf(p.Schema), Rules: rulesOf(p.Schema)}
	if p.Style == "deepObject" {
		row.Name, row.Type = p.Name+"[<key>]", "comma list"
	}
	if items := p.Schema.Items; items != nil {
		row.Type = "comma list"
		if kind := d.typeOf(items); kind != huma.TypeString {
			row.Type += " of " + kind
		}
		row.Rules = rulesOf(items)
	}
	return row
}

// headerOrder is the order in which answers name their headers.
var headerOrder = append([]string{"ETag", "Location", "Idempotency-Replayed"}, limited...)

// success reads the answer of an operation's success.
func success(status string, r *huma.Response) refAnswer {
	a := refAnswer{Status: status}
	for _, name := range headerOrder {
		if r.Headers[name] != nil {
			a.Headers = append(a.Headers, name)
		}
	}
	content := r.Content["application/json"]
	if content == nil {
		a.Empty = len(r.Content) == 0
		for mediaType := range r.Content {
			a.Bytes = mediaType
		}
		return a
	}
	schema := content.Schema
	a.example, _ = content.Example.(json.RawMessage)
	for _, name := range []string{"data", "action"} {
		if inner := schema.Properties[name]; inner != nil {
			a.In, schema, a.example = name, inner, within[map[string]json.RawMessage](a.example)[name]
			break
		}
	}
	if schema.Items != nil {
		a.List, schema, a.example = true, schema.Items, within[[]json.RawMessage](a.example)[0]
	}
	a.Resource = strings.TrimPrefix(schema.Ref, refPrefix)
	return a
}

// within reads what an example is made of.
func within[T any](example json.RawMessage) (parts T) {
	_ = json.Unmarshal(example, &parts) // a test checks that each example is valid JSON
	return parts
}

// follow returns the schema that s refers to, alone or as an alternative to null; s itself if it is no reference.
func (d *document) follow(s *huma.Schema) *huma.Schema {
	if len(s.AnyOf) > 0 {
		s = s.AnyOf[0] // the other is null
	}
	if s.Ref != "" {
		return d.answers.SchemaFromRef(s.Ref)
	}
	return s
}

// asResponseRows turns the rows of a body into those of an answer: no field is marked as required, and an optional field says that
// it may be left out.
func asResponseRows(rows []refField) []refField {
	for i := range rows {
		if !rows[i].Required {
			rows[i].Rules = append(rows[i].Rules, "Left out when there is none")
		}
		rows[i].Required = false
	}
	return rows
}

// fields lists an object's fields and, below each, those of the objects inside it, such as "sla.calendarId". within holds the
// enclosing schemas and stops the recursion.
func (d *document) fields(prefix string, s *huma.Schema, within []*huma.Schema, rows []refField) []refField {
	if s = d.follow(s); slices.Contains(within, s) {
		return rows
	}
	within = append(slices.Clone(within), s)
	for _, key := range fieldsOf(s) {
		p := s.Properties[key]
		rows = append(rows, refField{
			Name: prefix + key, Type: d.typeOf(p), Doc: p.Description, Rules: rulesOf(p), Required: slices.Contains(s.Required, key),
		})
		name, inner := prefix+key, d.follow(p)
		if inner.Items != nil {
			name, inner = name+"[]", d.follow(inner.Items)
		}
		if extra, ok := inner.AdditionalProperties.(*huma.Schema); ok {
			name, inner = name+".<key>", d.follow(extra)
		}
		rows = d.fields(name+".", inner, within, rows)
	}
	return rows
}

// fieldsOf returns the names of an object's fields in the order of the extension x-order.
func fieldsOf(s *huma.Schema) []string {
	return slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		first, _ := s.Properties[a].Extensions[fieldOrder].(int)
		second, _ := s.Properties[b].Extensions[fieldOrder].(int)
		return cmp.Or(cmp.Compare(first, second), cmp.Compare(a, b))
	})
}

// typeOf describes the type of a value in words.
func (d *document) typeOf(s *huma.Schema) string {
	null := ""
	if s.Nullable || len(s.AnyOf) > 0 {
		null = " or null"
	}
	s = d.follow(s)
	kind := s.Type
	switch extra, _ := s.AdditionalProperties.(*huma.Schema); {
	case kind == "":
		kind = "any"
	case s.Items != nil && d.typeOf(s.Items) == "any":
		kind = "list"
	case s.Items != nil:
		kind = "list of " + d.typeOf(s.Items)
	case s.Format == "date-time":
		kind = s.Format
	case extra != nil && extra.Type != "":
		kind = "map of " + d.typeOf(extra)
	}
	return kind + null
}

// rulesOf describes the other constraints on a value in words.
func rulesOf(s *huma.Schema) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	var values []string
	for _, v := range s.Enum {
		name, descending := strings.CutPrefix(fmt.Sprint(v), "-")
		if v != nil && !(descending && slices.Contains(s.Enum, any(name))) {
			values = append(values, fmt.Sprintf("`%v`", v))
		}
	}
	if len(values) > 0 {
		add("One of %s", strings.Join(values, ", "))
	}
	out = append(out, between(s.Minimum, s.Maximum, "")...)
	out = append(out, between(s.MinLength, s.MaxLength, " characters")...)
	out = append(out, between(s.MinItems, s.MaxItems, " entries")...)
	out = append(out, between(s.MinProperties, s.MaxProperties, " entries")...)
	if doc, ok := s.Extensions[patternDoc].(string); ok {
		add("%s", capital(doc))
	} else if s.Pattern != "" && s.Format == "" {
		add("Matches `%s`", s.Pattern)
	}
	if keys, ok := s.Extensions[propertyNames].(map[string]string); ok {
		add("Keys match `%s`", keys["pattern"])
	}
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok && extra.MaxLength != nil {
		add("Values of at most %d characters", *extra.MaxLength)
	}
	if s.Default != nil {
		add("Default `%v`", s.Default)
	}
	if s.WriteOnly {
		add("Never returned")
	}
	return out
}

// between describes the bounds of a value in words.
func between[N int | float64](low, high *N, unit string) []string {
	switch {
	case low != nil && high != nil:
		return []string{fmt.Sprintf("%v to %v%s", *low, *high, unit)}
	case low != nil:
		return []string{fmt.Sprintf("At least %v%s", *low, unit)}
	case high != nil:
		return []string{fmt.Sprintf("At most %v%s", *high, unit)}
	}
	return nil
}

// curl writes an example call. It works once its ids are replaced by real ones.
func curl(o *huma.Operation, baseURL string) string {
	path := o.Path
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(p.Example))
		case p.Name == "pageSize":
			path += "?pageSize=50"
		}
	}
	lines := []string{`curl "` + baseURL + path + `"`, `-H "x-api-key: $ATRIUM_API_KEY"`}
	switch o.Method {
	case http.MethodPost:
		lines = append(lines, `-H "Idempotency-Key: $(uuidgen)"`)
	case http.MethodPatch, http.MethodDelete:
		lines = append(lines, `-H "If-Match: $ETAG"`)
	}
	if o.Method != http.MethodGet {
		lines[0] = "curl -X " + o.Method + strings.TrimPrefix(lines[0], "curl")
	}
	switch {
	case o.RequestBody == nil:
	case o.RequestBody.Content["application/json"] == nil:
		lines = append(lines, "--data-binary @file")
	default:
		body, _ := o.RequestBody.Content["application/json"].Example.(json.RawMessage)
		lines = append(lines, `-H "Content-Type: application/json"`, "-d '"+indented(body)+"'")
	}
	return strings.Join(lines, " \\\n  ")
}

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

// indented returns an example as indented JSON.
func indented(raw json.RawMessage) string {
	var out bytes.Buffer
	_ = json.Indent(&out, raw, "", "  ") // a test checks that each example is valid JSON
	return out.String()
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// prose renders a text as HTML, with the text between backquotes as code.
func prose(text string) template.HTML {
	return template.HTML(codeSpan.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>")) // escaped above
}

// fieldName renders "sla.calendarId" as HTML that may break after its dots and sets the last part off from the rest.
func fieldName(name string) template.HTML {
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !strings.Contains(name[i:], "<") {
		within := strings.ReplaceAll(template.HTMLEscapeString(name[:i+1]), ".", ".<wbr>")
		return template.HTML(`<span class="within">` + within + "</span>" + template.HTMLEscapeString(name[i+1:])) // escaped
	}
	return template.HTML(template.HTMLEscapeString(name)) // escaped
}
