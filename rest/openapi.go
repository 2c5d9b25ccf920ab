package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atrium/internal/apperr"
	"atrium/internal/gate"
	"atrium/internal/op"
)

// openAPI returns the OpenAPI 3.1 document of the table, the same byte for byte each time. baseURL, when it is not
// empty, is where the document says the service is.
func openAPI(baseURL string) ([]byte, error) {
	d := &document{schemas: newSchemas()}
	paths, err := d.paths()
	if err != nil {
		return nil, err
	}
	doc := object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Atrium"},
			{"version", "1"},
			{"description", "Services, the requests that people file against them, and the workflows that process those requests. " +
				"All endpoints take HTTPS alone, and JSON. GET endpoints answer HEAD, too. The readable reference is at /docs."},
		}},
	}
	if baseURL != "" {
		doc.add("servers", []any{object{{"url", strings.TrimSuffix(baseURL, "/")}}})
	}
	doc.add("tags", d.tags)
	doc.add("paths", paths)
	doc.add("components", d.components())
	var raw, out bytes.Buffer
	if err := writeOrdered(&raw, doc); err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	if err := json.Indent(&out, raw.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// document gathers what the rows of the table share.
type document struct {
	schemas *schemas
	tags    []any
}

// paths describes every row, under its path, in the table's order.
func (d *document) paths() (object, error) {
	var paths object
	tagged, ids := map[string]bool{}, map[string]bool{}
	for i := range routes {
		rt := &routes[i]
		id := operationID(rt)
		if ids[id] {
			return nil, fmt.Errorf("openapi: two rows of the table are called %s", id)
		}
		ids[id] = true
		if tag := tagOf(rt.op); !tagged[tag] {
			tagged[tag] = true
			d.tags = append(d.tags, object{{"name", tag}})
		}
		item := paths.object("/v1" + rt.path)
		item.add(strings.ToLower(rt.method), d.operation(rt))
		paths.put("/v1"+rt.path, item)
	}
	return paths, nil
}

// operation describes one row.
func (d *document) operation(rt *route) object {
	o := object{
		{"operationId", operationID(rt)},
		{"summary", rt.op.Summary},
		{"tags", []any{tagOf(rt.op)}},
	}
	scopes := []any{}
	if rt.op.Scope != "" {
		o.add("description", "Requires the scope `"+rt.op.Scope+"`.")
		o.add("x-scope", rt.op.Scope)
		scopes = append(scopes, rt.op.Scope)
	}
	o.add("security", []any{object{{"apiKey", scopes}}, object{{"bearer", scopes}}})
	if parameters := d.parameters(rt); len(parameters) > 0 {
		o.add("parameters", parameters)
	}
	if rt.op.Input.HasBody() {
		o.add("requestBody", object{
			{"required", true},
			{"content", jsonContent(d.schemas.input(rt.op.Input, capital(operationID(rt))+"Input"))},
		})
	}
	o.add("responses", d.responses(rt))
	return o
}

// operationID names a row after its operation: listServices of service.list, cancelExecution of execution.cancel.
func operationID(rt *route) string {
	_, verb, _ := strings.Cut(rt.op.Name, ".")
	noun := rt.op.Resource
	if verb == "list" || verb == "read" && !strings.Contains(rt.path, "{") {
		noun = plural(noun)
	}
	if verb == "read" {
		verb = "get"
	}
	return verb + noun
}

// tagOf names the group of a row: "Audit entries" of AuditEntry.
func tagOf(info *op.Info) string { return capital(words(plural(info.Resource))) }

func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return stem + "ies"
	}
	return noun + "s"
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// tagsParam is the name of the family of parameters that filter by tags, as operations spell it.
const tagsParam = "tag.*"

// parameters lists what a row reads from its path, query and headers.
func (d *document) parameters(rt *route) []any {
	var out []any
	for _, p := range rt.op.Input.Params {
		switch {
		case p.In == "path":
			out = append(out, d.pathParam(rt, p))
		case p.Name == tagsParam:
			out = append(out, object{
				{"name", "tag.<key>"},
				{"in", "query"},
				{"description", p.Doc + " Write the tag's key for <key>; give as many keys as you like."},
				{"x-name-pattern", `^tag\.[A-Za-z0-9_.-]{1,64}$`},
				{"style", "form"},
				{"explode", false},
				{"schema", object{{"type", "array"}, {"items", object{{"type", "string"}}}}},
			})
		default:
			out = append(out, d.queryParam(rt, p))
		}
	}
	header := func(name string) { out = append(out, object{{"$ref", "#/components/parameters/" + name}}) }
	switch {
	case rt.method == http.MethodPost:
		header("Idempotency-Key")
	case rt.method == http.MethodPatch || rt.method == http.MethodDelete:
		header("If-Match")
	case rt.method == http.MethodGet && single(rt):
		header("If-None-Match")
	}
	return out
}

func (d *document) pathParam(rt *route, p op.Param) object {
	doc := p.Doc
	if before, _, ok := strings.Cut(rt.path, "/{"+p.Name+"}"); ok && p.Name == "id" {
		doc = "The " + strings.TrimSuffix(before[strings.LastIndexByte(before, '/')+1:], "s") + "'s id."
	}
	o := object{{"name", p.Name}, {"in", "path"}, {"required", true}}
	if doc != "" {
		o.add("description", doc)
	}
	o.add("schema", d.schemas.convert(p.Schema, nil, reading{registry: op.Schemas}))
	return o
}

func (d *document) queryParam(rt *route, p op.Param) object {
	schema := d.schemas.convert(p.Schema, nil, reading{registry: op.Schemas})
	doc := p.Doc
	if p.Name == "sort" && len(rt.op.Sorts) > 0 {
		var fields []any
		for _, name := range slices.Sorted(maps.Keys(rt.op.Sorts)) {
			fields = append(fields, name, "-"+name)
		}
		schema.put("enum", fields)
		doc += " The newest come first when it is not given."
	}
	if doc == "" {
		doc = "Those whose " + p.Name + " is any of these."
	}
	o := object{{"name", p.Name}, {"in", "query"}, {"description", doc}}
	if p.List {
		schema = object{{"type", "array"}, {"items", schema}, {"minItems", 1}, {"maxItems", 100}}
		o.add("style", "form")
		o.add("explode", false)
	}
	o.add("schema", schema)
	return o
}

// single tells whether a row answers with one resource in its envelope, and so with an ETag.
func single(rt *route) bool {
	return rt.body != nil && rt.body.PkgPath() == reflect.TypeFor[Pagination]().PkgPath() && strings.HasPrefix(rt.body.Name(), "Single[")
}

// responses lists every answer that a row can give, by status.
func (d *document) responses(rt *route) object {
	success := object{{"description", http.StatusText(rt.status)}}
	var names []string
	if single(rt) {
		names = append(names, "ETag")
	}
	if single(rt) && rt.status == http.StatusCreated {
		names = append(names, "Location")
	}
	if rt.method == http.MethodPost {
		names = append(names, "Idempotency-Replayed")
	}
	success.add("headers", headerRefs(append(names, limited...)...))
	if rt.body != nil {
		success.add("content", jsonContent(d.schemas.answer(rt.body)))
	}
	out := object{{strconv.Itoa(rt.status), success}}
	if rt.method == http.MethodGet && single(rt) {
		out.add("304", object{{"$ref", "#/components/responses/NotModified"}})
	}
	for _, status := range refusals(rt) {
		out.add(strconv.Itoa(status), object{{"$ref", "#/components/responses/" + responseName(status)}})
	}
	return out
}

// refusals lists the statuses of the errors that a row can give.
func refusals(rt *route) []int {
	out := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}
	if strings.Contains(rt.path, "{") {
		out = append(out, http.StatusNotFound)
	}
	if rt.op.Action != op.Read {
		out = append(out, http.StatusConflict)
	}
	if rt.method == http.MethodPatch || rt.method == http.MethodDelete {
		out = append(out, http.StatusPreconditionFailed)
	}
	if rt.op.Input.HasBody() {
		out = append(out, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if rt.method == http.MethodPost {
		out = append(out, http.StatusUnprocessableEntity)
	}
	return append(out, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
}

// refusal is an error code and when it is given.
type refusal struct {
	code apperr.Code
	doc  string
}

// allRefusals are the codes of the contract, by status.
var allRefusals = []refusal{
	{apperr.Validation, "A parameter, the body or one of its fields is not valid; `details` has one row per fault."},
	{apperr.Unauthorized, "The API key or token is missing, wrong, expired or revoked."},
	{apperr.Forbidden, "A scope, the role or an access policy says no; `reason` names it where you may know."},
	{apperr.HTTPSRequired, "The request came over plain HTTP and was not processed."},
	{apperr.NotFound, "There is nothing at this path, or nothing that is your company's."},
	{apperr.MethodNotAllowed, "The path does not take this method; the header Allow lists those that it takes."},
	{apperr.Conflict, "The resource's state, or another resource, stands in the way, such as one with the same slug."},
	{apperr.PreconditionFailed, "The resource has changed since you read it: If-Match names an older ETag."},
	{apperr.PayloadTooLarge, "The body has more than 1 MiB."},
	{apperr.UnsupportedMediaType, "The body is not sent as application/json."},
	{apperr.IdempotencyMismatch, "The idempotency key was used with another request."},
	{apperr.RateLimited, "Too many requests; `retryAfter` and the header Retry-After say how many seconds to wait."},
	{apperr.Internal, "Something went wrong on our side; `requestId` is what to quote to support."},
	{apperr.Unavailable, "The service cannot answer at the moment. Try again shortly."},
}

// responseName names the shared response of an error's status.
func responseName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

func jsonContent(schema object) object {
	return object{{"application/json", object{{"schema", schema}}}}
}

// limited are the headers of every answer to a caller who was recognised.
var limited = []string{"X-Request-Id", "RateLimit", "RateLimit-Policy"}

func headerRefs(names ...string) object {
	var out object
	for _, name := range names {
		out.add(name, object{{"$ref", "#/components/headers/" + name}})
	}
	return out
}

// components returns what the operations refer to.
func (d *document) components() object {
	failure := d.schemas.answer(reflect.TypeFor[gate.Error]())
	codes := make([]any, len(allRefusals))
	for i, r := range allRefusals {
		codes[i] = r.code
	}
	properties := d.schemas.components["Error"].object("properties")
	code := properties.object("error")
	code.put("enum", codes)
	properties.put("error", code)

	var schemas object
	for _, name := range slices.Sorted(maps.Keys(d.schemas.components)) {
		schemas.add(name, d.schemas.components[name])
	}
	return object{
		{"schemas", schemas},
		{"responses", errorResponses(failure)},
		{"parameters", headerParams()},
		{"headers", headers()},
		{"securitySchemes", object{
			{"apiKey", object{
				{"type", "apiKey"}, {"name", "x-api-key"}, {"in", "header"},
				{"description", "An API key of the company: key_live_… for production, key_test_… for the sandbox."},
			}},
			{"bearer", object{
				{"type", "http"}, {"scheme", "bearer"},
				{"description", "An access token of the identity provider (OAuth 2.0, authorization code with PKCE)."},
			}},
		}},
	}
}

// errorResponses returns one response per status, each with the codes that it comes with.
func errorResponses(failure object) object {
	out := object{{"NotModified", object{
		{"description", "The resource is still as If-None-Match knows it."},
		{"headers", headerRefs(append([]string{"ETag"}, limited...)...)},
	}}}
	for i := 0; i < len(allRefusals); {
		status := gate.StatusOf(allRefusals[i].code)
		var codes []any
		var docs []string
		for ; i < len(allRefusals) && gate.StatusOf(allRefusals[i].code) == status; i++ {
			codes = append(codes, allRefusals[i].code)
			docs = append(docs, "`"+string(allRefusals[i].code)+"`: "+allRefusals[i].doc)
		}
		schema := slices.Clone(failure)
		schema.add("properties", object{{"error", object{{"enum", codes}}}})
		names := limited
		switch status {
		case http.StatusUnauthorized:
			names = []string{"WWW-Authenticate", "X-Request-Id"}
		case http.StatusMethodNotAllowed:
			names = append([]string{"Allow"}, limited...)
		case http.StatusTooManyRequests:
			names = append([]string{"Retry-After"}, limited...)
			schema.add("required", []string{"retryAfter"})
		case http.StatusInternalServerError:
			schema.add("required", []string{"requestId"})
		}
		out.add(responseName(status), object{
			{"description", strings.Join(docs, "\n\n")},
			{"headers", headerRefs(names...)},
			{"content", jsonContent(schema)},
		})
	}
	return out
}

// headerParams are the request headers that rows take.
func headerParams() object {
	var out object
	for _, h := range []struct {
		name, doc string
		schema    object
	}{
		{
			"Idempotency-Key", "Makes a retry safe: for 24 hours the same key with the same request answers as the first time, with no second effect.",
			object{{"type", "string"}, {"minLength", 1}, {"maxLength", maxKey}, {"pattern", "^[ -~]+$"}, {"x-pattern-description", "printable ASCII characters"}},
		},
		{"If-Match", "The ETag that you read. When the resource has changed since, nothing happens and the answer is 412.", object{{"type", "string"}}},
		{"If-None-Match", "The ETag that you have. When the resource is still the same, the answer is 304 without a body.", object{{"type", "string"}}},
	} {
		out.add(h.name, object{{"name", h.name}, {"in", "header"}, {"description", h.doc}, {"schema", h.schema}})
	}
	return out
}

// headers are the headers of answers.
func headers() object {
	var out object
	for _, h := range []struct{ name, kind, doc, example string }{
		{"Allow", "string", "The methods that the path takes.", "GET, HEAD, POST"},
		{"ETag", "string", "The resource's version, for If-Match and If-None-Match.", `"2Uu3sB7pTq1mVx0aZkLd"`},
		{"Idempotency-Replayed", "string", "true when this is the kept answer to an earlier request with the same key.", "true"},
		{"Location", "string", "The path of the new resource.", "/v1/services/svc_01k9ye4ryzf7stj6dqnm8x2v3b"},
		{"RateLimit", "string", "Calls that are left in the window that runs out first, and the seconds until it starts anew.", `"minute";r=59;t=60`},
		{"RateLimit-Policy", "string", "The limits of the company's plan.", `"minute";q=60;w=60, "day";q=10000;w=86400`},
		{"Retry-After", "integer", "Seconds to wait.", ""},
		{"WWW-Authenticate", "string", "How to authenticate.", `Bearer realm="atrium"`},
		{"X-Request-Id", "string", "The request's id, as audit entries and support know it.", "rid_01k9ye4ryzf7stj6dqnm8x2v3b"},
	} {
		o := object{{"description", h.doc}, {"schema", object{{"type", h.kind}}}}
		if h.example != "" {
			o.add("example", h.example)
		}
		out.add(h.name, o)
	}
	return out
}
