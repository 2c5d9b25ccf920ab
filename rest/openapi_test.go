package rest

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/desk/form"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/test/apitest"
)

var update = flag.Bool("update", false, "write rest/openapi.json anew")

const golden = "openapi.json"

// object is a decoded JSON object.
type object map[string]any

// get returns a member; nil if there is none.
func (o object) get(key string) any { return o[key] }

// object returns a member that is an object; nil if it is not.
func (o object) object(key string) object { return asObject(o[key]) }

// text returns a member that is a string; "" if it is not.
func (o object) text(key string) string {
	v, _ := o[key].(string)
	return v
}

func asObject(v any) object {
	m, _ := v.(map[string]any)
	return m
}

// readDocument returns the document of an empty base URL, as bytes and decoded. A member that occurs twice is an error.
func readDocument(t *testing.T) ([]byte, object) {
	t.Helper()
	b, err := newDocument("", exampleURL).json()
	require.NoError(t, err)
	v, err := strictjson.Decode(b)
	require.NoError(t, err)
	doc := asObject(v)
	require.NotNil(t, doc)
	return b, doc
}

func TestOpenAPIGolden(t *testing.T) {
	t.Parallel()
	b, _ := readDocument(t)
	if *update {
		require.NoError(t, os.WriteFile(golden, b, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	lines, others := strings.Split(string(want), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(lines), len(others)) {
		require.Equal(t, lines[i], others[i], "line %d; run: go test ./rest -run OpenAPIGolden -update", i+1)
	}
	require.Equal(t, len(lines), len(others), "lines; run: go test ./rest -run OpenAPIGolden -update")
}

func TestOpenAPIIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	validating := func() string {
		var all []any
		for _, info := range op.All() {
			all = append(all, info.Input.Body, info.Input.Params)
		}
		return asText(t, all)
	}
	before := validating()
	first, _ := readDocument(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			again, err := newDocument("", exampleURL).json()
			if err != nil || !bytes.Equal(first, again) {
				t.Errorf("another document: %v", err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, before, validating(), "the schemas that inputs are validated with must stay as they are")
}

func TestOpenAPINamesItsServer(t *testing.T) {
	t.Parallel()
	b, err := newDocument("https://work.example/", "").json()
	require.NoError(t, err)
	require.Contains(t, string(b), `"url": "https://work.example"`)
	require.NotContains(t, string(b), "oauth2", "tokens are another issuer's")
	require.Contains(t, string(b), `"bearer": [`)
}

func TestRoutesAreSound(t *testing.T) {
	t.Parallel()
	registered := map[string]*op.Info{}
	for _, info := range op.All() {
		registered[info.Name] = info
	}
	paths, ids := map[string]bool{}, map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		require.Same(t, registered[rt.op.Name], rt.op, rt.path)
		require.NotEmpty(t, rt.op.Summary, rt.op.Name)
		require.NotEmpty(t, rt.op.Scope, "%s: a row of the table takes a scope", rt.op.Name)
		require.False(t, rt.op.AdminLayer, "%s: the admin layer is no part of REST", rt.op.Name)
		key := rt.method + " " + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(rt.path, "{}")
		require.False(t, paths[key], "%s stands twice in the table", key)
		paths[key] = true
		id := operationID(rt)
		require.Regexp(t, `^[a-z][A-Za-z]+$`, id)
		require.False(t, ids[id], "%s is the name of two rows", id)
		ids[id] = true
		for _, p := range rt.op.Input.Params {
			if p.In == "path" {
				require.Contains(t, rt.path, "{"+p.Name+"}", "%s reads a path parameter that its path lacks", id)
			}
		}
		require.Equal(t, rt.status == http.StatusNoContent, rt.body == nil, id)
	}
}

func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	for _, r := range allRefusals {
		require.NotEmpty(t, r.Doc)
		require.True(t, r.Code == "internal_error" || gate.StatusOf(r.Code) != http.StatusInternalServerError, "%s has no status of its own", r.Code)
	}
	source, err := os.ReadFile("../internal/platform/apperr/apperr.go")
	if os.IsNotExist(err) {
		source, err = os.ReadFile("../internal/platform/apperr/error.go")
	}
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`Code += "(\w+)"`).FindAllSubmatch(source, -1) {
		if string(m[1]) == string(apperr.QueryTooComplex) {
			continue // only GraphQL has it
		}
		require.True(t, slices.ContainsFunc(allRefusals, func(r refusal) bool { return string(r.Code) == string(m[1]) }), "%s is not documented", m[1])
	}
}

// walk calls visit for every object of a JSON value, with its JSON pointer.
func walk(pointer string, v any, visit func(pointer string, o object)) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	switch v := v.(type) {
	case map[string]any:
		visit(pointer, v)
		for key, value := range v {
			walk(pointer+"/"+escape.Replace(key), value, visit)
		}
	case []any:
		for i, e := range v {
			walk(pointer+"/"+strconv.Itoa(i), e, visit)
		}
	}
}

// lookup follows a reference; nil if it cannot be resolved.
func lookup(doc object, ref string) object {
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		doc = doc.object(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return doc
}

func TestOpenAPISchemasAndReferences(t *testing.T) {
	t.Parallel()
	b, doc := readDocument(t)
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	require.NoError(t, c.AddResource("https://atrium.invalid/openapi.json", raw))
	compiled, used := 0, map[string]bool{}
	compile := func(pointer string) {
		compiled++
		_, err := c.Compile("https://atrium.invalid/openapi.json" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer))
		require.NoError(t, err, pointer)
	}
	walk("#", map[string]any(doc), func(pointer string, o object) {
		if ref, ok := o.get("$ref").(string); ok {
			used[ref] = true
			require.NotNil(t, lookup(doc, ref), "%s refers to %s, which is not there", pointer, ref)
		}
		if o.object("schema") != nil && !strings.Contains(pointer, "/properties") {
			compile(pointer + "/schema")
		}
	})
	for name := range doc.object("components").object("schemas") {
		compile("#/components/schemas/" + name)
	}
	require.Greater(t, compiled, 3*len(routes))
	for _, kind := range []string{"schemas", "parameters"} {
		for name := range doc.object("components").object(kind) {
			require.True(t, used["#/components/"+kind+"/"+name], "nothing uses the component %s", name)
			require.Regexp(t, `^[A-Za-z0-9._-]+$`, name)
		}
	}
}

// TestOpenAPIRules checks the document against rules that OpenAPI 3.1 states in prose and tables.
func TestOpenAPIRules(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	keys := func(o object, allowed ...string) {
		for name := range o {
			require.True(t, slices.Contains(allowed, name) || strings.HasPrefix(name, "x-"), "%s is no member of this object", name)
		}
	}
	keys(doc, "openapi", "info", "servers", "tags", "paths", "components")
	require.Regexp(t, `^3\.1\.\d+$`, doc.text("openapi"))
	require.NotEmpty(t, doc.object("info").text("title"))
	require.Equal(t, "1", doc.object("info").text("version"))
	schemes := doc.object("components").object("securitySchemes")
	ids := map[string]bool{}
	for path, item := range doc.object("paths") {
		require.True(t, strings.HasPrefix(path, "/v1/"))
		for method, v := range asObject(item) {
			require.Contains(t, []string{"get", "post", "patch", "put", "delete"}, method)
			o := asObject(v)
			keys(o, "operationId", "summary", "tags", "description", "security", "parameters", "requestBody", "responses")
			require.False(t, ids[o.text("operationId")])
			ids[o.text("operationId")] = true
			for _, s := range o.get("security").([]any) {
				for name := range asObject(s) {
					require.NotNil(t, schemes.object(name))
				}
			}
			checkParameters(t, doc, path, o)
			require.NotEmpty(t, o.object("responses"))
			for status, r := range o.object("responses") {
				require.Regexp(t, `^[1-5]\d\d$`, status)
				response := asObject(r)
				if ref := response.text("$ref"); ref != "" {
					response = lookup(doc, ref)
				}
				keys(response, "description", "headers", "content")
				require.NotEmpty(t, response.text("description"))
			}
		}
	}
	require.Len(t, ids, len(routes)+7, "the rows of the table, the calls of inbound webhooks and of mail providers, the bytes of files in three, and the tables of requests and of the report about them")
}

// checkParameters checks that an operation names each parameter once, and describes all parameters of its path.
func checkParameters(t *testing.T, doc object, path string, o object) {
	t.Helper()
	seen := map[string]bool{}
	list, _ := o.get("parameters").([]any)
	for _, v := range list {
		p := asObject(v)
		if ref := p.text("$ref"); ref != "" {
			p = lookup(doc, ref)
		}
		name, in := p.text("name"), p.text("in")
		require.Contains(t, []string{"path", "query", "header"}, in)
		require.False(t, seen[in+name], "%s twice", name)
		seen[in+name] = true
		require.NotNil(t, p.object("schema"))
		if in == "path" {
			require.Equal(t, true, p.get("required"))
			require.Contains(t, path, "{"+name+"}")
		}
	}
	for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
		require.True(t, seen["path"+m[1]], "%s: %s is not described", path, m[1])
	}
}

func TestAnswersAreDocumentedWhole(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	request := lookup(doc, "#/components/schemas/Request")
	require.Len(t, request.get("required"), len(request.object("properties")), "unset fields are present as null")
	require.Nil(t, request.get("additionalProperties"), "answers may gain fields")
	require.Equal(t, false, lookup(doc, "#/components/schemas/CreateRequestInput").get("additionalProperties"), "unknown fields are refused")
	null := map[string]any{"type": "null"}
	require.Equal(t, []any{map[string]any{"$ref": "#/components/schemas/RequestSLA"}, null}, request.object("properties").object("sla").get("anyOf"))
	require.Equal(t, []any{"string", "null"}, request.object("properties").object("assigneeId").get("type"))
	require.Equal(t, []any{"string", "null"}, request.object("properties").object("acceptedAt").get("type"))
}

func TestInputsAreDocumentedAsTheyAreRead(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	for i := range routes {
		rt := &routes[i]
		if !rt.op.Input.HasBody() {
			continue
		}
		input := lookup(doc, "#/components/schemas/"+capital(operationID(rt))+"Input")
		require.Len(t, input.object("properties"), len(rt.op.Input.Body.Properties))
		for name, v := range input.object("properties") {
			p := asObject(v)
			list, _ := p.get("type").([]any)
			anyOf, _ := p.get("anyOf").([]any)
			require.Equal(t, rt.op.Input.Nullable(name), slices.Contains(list, any("null")) || anyOf != nil, "%s of %s", name, rt.op.Name)
		}
	}
	create := lookup(doc, "#/components/schemas/CreateServiceInput")
	require.Equal(t, []any{"name"}, create.get("required"))
	require.Equal(t, []any{"draft", "active", "archived", nil}, create.object("properties").object("status").get("enum"))
	d := newDocument("", exampleURL)
	require.Equal(t, []string{"name", "slug", "description"}, fieldsOf(d.Components.Schemas.Map()["CreateServiceInput"])[:3], "fields stand in the struct's order")
	require.EqualValues(t, 1, create.object("properties").object("slug").get(fieldOrder))
}

func TestReferenceStandsOnItsOwn(t *testing.T) {
	t.Parallel()
	_, doc := readDocument(t)
	html, err := newDocument("", exampleURL).reference()
	require.NoError(t, err)
	page := string(html)
	for _, foreign := range []string{"<script", "<link", "<img", "<iframe", " src=", "@import", "ZgotmplZ", "http-equiv", " onclick"} {
		require.NotContains(t, page, foreign)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]], "two elements are called %s", m[1])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if anchor, ok := strings.CutPrefix(m[1], "#"); ok {
			require.True(t, ids[anchor], "a link leads to %s, which is not there", anchor)
		} else {
			require.Contains(t, []string{
				"/openapi.json", "/asyncapi.json", "https://www.standardwebhooks.com", "https://cel.dev", exampleURL + "/.well-known/openid-configuration",
			}, m[1])
		}
	}
	nav, _, _ := strings.Cut(page, "</nav>")
	for _, m := range regexp.MustCompile(`<h2[^>]* id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.Contains(t, nav, `href="#`+m[1]+`"`, "a chapter that the contents do not list")
	}
	empty := 0
	for path, item := range doc.object("paths") {
		require.Contains(t, page, "<span>"+path+"</span>")
		for _, o := range asObject(item) {
			require.True(t, ids["op-"+asObject(o).text("operationId")])
			for status, r := range asObject(o).object("responses") {
				if status < "300" && asObject(r)["content"] == nil {
					empty++
				}
			}
		}
	}
	require.Equal(t, empty, strings.Count(page, "</code>, without a body."))
	for _, k := range events.All {
		require.Contains(t, page, "<summary><code>"+k.Name+"</code>")
	}
	for name, schema := range doc.object("components").object("schemas") {
		if strings.HasSuffix(name, "Input") {
			continue
		}
		for field := range asObject(schema).object("properties") {
			if name != "Error" && name != "ErrorDetail" && name != "Pagination" {
				require.Contains(t, page, field, "the field of %s is not shown", name)
			}
		}
	}
}

// TestExamplesFit checks the examples of bodies, which the reference shows, against the document's own schemas.
func TestExamplesFit(t *testing.T) {
	t.Parallel()
	b, doc := readDocument(t)
	raw, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	require.NoError(t, c.AddResource("https://atrium.invalid/openapi.json", raw))
	checked := 0
	check := func(pointer string, example any) {
		checked++
		s, err := c.Compile("https://atrium.invalid/openapi.json" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(pointer))
		require.NoError(t, err)
		sample, err := json.Marshal(example)
		require.NoError(t, err)
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(sample))
		require.NoError(t, err)
		require.NoError(t, s.Validate(v), "%s: %s", pointer, sample)
	}
	walk("#", map[string]any(doc), func(pointer string, o object) {
		if media := o.object("application/json"); media != nil {
			require.NotNil(t, media.get("example"), "%s has no example", pointer)
			check(pointer+"/application~1json/schema", media.get("example"))
			require.NotRegexp(t, `[:\[]""`, asText(t, media.get("example")), "%s: a field needs an example", pointer)
		}
		if examples, ok := o.get("examples").([]any); ok && o.text("$ref") == "" {
			check(pointer, examples[0])
		}
	})
	require.Greater(t, checked, 2*len(routes))
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestResponsesHoldAgainstTheDocument(t *testing.T) {
	t.Parallel()
	b, _ := readDocument(t)
	v, err := apitest.NewResponseValidator(b)
	require.NoError(t, err)
	body := func(v any) []byte {
		b, err := encode(v)
		require.NoError(t, err)
		return b
	}
	moment, minutes := time.Now(), 5
	o := &ent.Offering{
		ID: "off_1", ServiceID: "svc_1", Name: "Laptop", Slug: "laptop", Status: offering.StatusActive, CreatedAt: moment, UpdatedAt: moment,
		Form: &form.Definition{Fields: []form.Field{{Key: "model", Type: "text"}}}, ResponseMinutes: &minutes,
	}
	check := func(status int, value any) error {
		return v.Check(http.MethodGet, "/v1/offerings/off_1?x=y", status, "application/json", body(value))
	}
	require.NoError(t, check(200, Single[Offering]{offeringOut(o)}))
	require.NoError(t, check(200, Single[Offering]{offeringOut(&ent.Offering{Status: offering.StatusActive})}))
	require.Error(t, check(200, offeringOut(o)), "no envelope")
	require.Error(t, check(200, Single[Offering]{offeringOut(&ent.Offering{Status: "odd"})}))
	require.Error(t, check(201, Single[Offering]{offeringOut(o)}), "not the status")
	require.NoError(t, check(404, gate.Error{Code: "not_found", Message: "Offering not found."}))
	require.Error(t, check(404, gate.Error{Code: "conflict", Message: "Not this status's code."}))
	require.Error(t, check(500, gate.Error{Code: "internal_error", Message: "Without its request id."}))
	require.Error(t, check(409, gate.Error{Code: "conflict", Message: "A read has no conflicts."}))
	require.NoError(t, v.Check(http.MethodGet, "/v1/nowhere", 404, "application/json", body(gate.Error{Code: "not_found", Message: "Nothing."})))
	require.Error(t, v.Check(http.MethodGet, "/v1/nowhere", 200, "application/json", []byte(`{}`)))
	require.Error(t, v.Check(http.MethodPut, "/v1/services", 405, "text/html", []byte(`no`)))
	require.NoError(t, v.Check(http.MethodDelete, "/v1/services/svc_1", 204, "", nil))
	require.Error(t, v.Check(http.MethodDelete, "/v1/services/svc_1", 204, "application/json", []byte(`{}`)))
	require.NoError(t, v.Check(http.MethodHead, "/v1/services", 200, "application/json", nil))
	page := Page[Service]{Data: []Service{}}
	require.NoError(t, v.Check(http.MethodGet, "/v1/services", 200, "application/json", body(page)))
	page.Data = nil
	require.Error(t, v.Check(http.MethodGet, "/v1/services", 200, "application/json", body(page)))
}
