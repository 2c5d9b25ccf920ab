package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/agent/tools"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/op/input"
	"atrium/internal/workflow/execution"
)

// document is the OpenAPI document of the route table, in huma's types.
type document struct {
	huma.OpenAPI
	operations []*huma.Operation // in the order of the table, which the document's map of paths does not keep
	answers    huma.Registry     // the schemas of answers
	inputs     huma.Registry     // the schemas of bodies: a type that is used in both has different rules in each
	authURL    string
}

// exampleURL is the base URL in the committed document.
const exampleURL = "https://atrium.example"

// newDocument describes the route table. baseURL is the URL of the service in the document, authURL that of its identity
// provider; authURL is empty when tokens come from another issuer.
func newDocument(baseURL, authURL string) *document {
	d := &document{
		OpenAPI: huma.OpenAPI{OpenAPI: "3.1.0", Info: &huma.Info{
			Title: "Atrium", Version: "1",
			Description: "Services, the requests that people file against them, and the workflows that process those requests. " +
				"All endpoints take HTTPS alone, and JSON. GET endpoints answer HEAD, too. Answers may gain fields. The readable reference is at /docs.",
			License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
		}, Servers: []*huma.Server{{URL: cmp.Or(strings.TrimSuffix(baseURL, "/"), exampleURL)}}},
		answers: huma.NewMapRegistry(refPrefix, schemaNamer("")),
		inputs:  input.NewSchemas(refPrefix, schemaNamer("Input")),
		authURL: authURL,
	}
	d.Components = &huma.Components{
		Schemas: d.answers, Responses: errorResponses(d.answers.Schema(reflect.TypeFor[gate.Error](), true, "")), Parameters: headerParams,
		Headers: headers, SecuritySchemes: securitySchemes(authURL),
	}
	for i := range routes {
		d.add(&routes[i])
	}
	d.addTable()
	d.addReportTable()
	d.addContent()
	d.addInbound()
	d.addMailHook()
	d.answers.Map()["Error"].Properties["error"].Enum = allCodes()
	finish(d.answers, true)
	finish(d.inputs, false)
	maps.Copy(d.answers.Map(), d.inputs.Map())
	d.answers.Map()[definitionSchema] = definitionFormat()
	return d
}

// json returns the document as indented JSON, with the same bytes each time.
func (d *document) json() ([]byte, error) {
	raw, err := json.Marshal(&d.OpenAPI)
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// add describes one row.
func (d *document) add(rt *route) {
	o := &huma.Operation{
		OperationID: operationID(rt), Method: rt.method, Path: "/v1" + rt.path, Summary: rt.op.Summary, Tags: []string{tagOf(rt.op)},
		Description: "Requires the scope `" + rt.op.Scope + "`.",
		Extensions:  map[string]any{"x-scope": rt.op.Scope},
		Security:    []map[string][]string{{"apiKey": {}}, {d.tokens(): {rt.op.Scope}}},
		Parameters:  parameters(rt),
		Responses:   map[string]*huma.Response{},
	}
	if rt.note != "" {
		o.Description += " " + rt.note
		o.Extensions["x-note"] = rt.note
	}
	if in := rt.op.Input; in.HasBody() {
		ref := d.inputs.Schema(in.BodyType, true, capital(o.OperationID)+"Input")
		body := d.inputs.SchemaFromRef(ref.Ref)
		for name, p := range body.Properties {
			if in.Nullable(name) {
				makeNullable(p)
			}
			if input.Labels(p) {
				extend(p, propertyNames, map[string]string{"pattern": input.LabelPattern})
			}
			if rt.op.Resource == "Workflow" && name == "definition" {
				body.Properties[name] = &huma.Schema{Ref: refPrefix + definitionSchema}
			}
		}
		o.RequestBody = &huma.RequestBody{Required: true, Content: jsonContent(ref, exampleInput(in, rt.resource))}
	}
	o.Responses[strconv.Itoa(rt.status)] = d.success(rt)
	if tools.MayWait(rt.op) {
		held := huma.SchemaFromType(d.answers, reflect.TypeFor[heldAnswer]())
		held.AdditionalProperties = nil
		o.Responses["202"] = &huma.Response{
			Description: "With an agent's key: nothing was done; the action stands for people to look at.", Headers: headerRefs(limited...),
			Content: jsonContent(held, example(reflect.TypeFor[heldAnswer](), "")),
		}
	}
	if rt.method == http.MethodGet && rt.single() {
		o.Responses["304"] = &huma.Response{Ref: "#/components/responses/NotModified"}
	}
	d.put(o, refusals(rt)...)
}

// put adds an operation, with its group and the error statuses that it can answer with.
func (d *document) put(o *huma.Operation, refusals ...int) {
	if !slices.ContainsFunc(d.Tags, func(t *huma.Tag) bool { return t.Name == o.Tags[0] }) {
		d.Tags = append(d.Tags, &huma.Tag{Name: o.Tags[0], Description: tagDocs[o.Tags[0]]})
	}
	for _, status := range refusals {
		o.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
	}
	d.AddOperation(o)
	d.operations = append(d.operations, o)
}

// tokens returns the name of the security scheme of bearer tokens.
func (d *document) tokens() string {
	if d.Components.SecuritySchemes["oauth2"] != nil {
		return "oauth2"
	}
	return "bearer"
}

// operationID names a row after its operation: listServices of service.list, cancelExecution of execution.cancel.
func operationID(rt *route) string {
	_, verb, _ := strings.Cut(rt.op.Name, ".")
	noun := rt.op.Resource
	if verb == "list" || rt.op.PerRow || verb == "read" && !strings.Contains(rt.path, "{") {
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

// tagsParam is the name of the parameters that filter by tags, as operations declare it.
const tagsParam = "tag.*"

// parameters lists what a row reads from its path, query and headers.
func parameters(rt *route) []*huma.Param {
	var out []*huma.Param
	for _, p := range rt.op.Input.Params {
		switch {
		case p.In == "path":
			out = append(out, pathParam(rt, p))
		case p.Name == tagsParam:
			keys := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
			extend(keys, propertyNames, map[string]string{"pattern": input.LabelPattern})
			out = append(out, &huma.Param{
				Name: "tag", In: "query", Style: "deepObject", Explode: new(true), Schema: keys, Example: map[string]string{"site": "berlin"},
				Description: p.Doc + " The tag's key stands in brackets, as often as you like; several values are separated by commas. " +
					"tag.<key>= is the same.",
			})
		default:
			out = append(out, queryParam(rt, p))
		}
	}
	if rt.op.Resource == "Request" || rt.op.Resource == "Comment" {
		out = append(out, &huma.Param{Ref: "#/components/parameters/" + runParam})
	}
	header := func(name string) { out = append(out, &huma.Param{Ref: "#/components/parameters/" + name}) }
	switch {
	case rt.op.Action == op.Read && rt.method != http.MethodGet: // it changes nothing
	case rt.method == http.MethodPost:
		header("Idempotency-Key")
	case rt.method == http.MethodPatch || rt.method == http.MethodDelete:
		header("Idempotency-Key")
		header("If-Match")
	case rt.method == http.MethodGet && rt.single():
		header("If-None-Match")
	}
	return out
}

func pathParam(rt *route, p input.Param) *huma.Param {
	out := &huma.Param{Name: p.Name, In: "path", Required: true, Description: p.Doc, Schema: p.Schema}
	if before, _, ok := strings.Cut(rt.path, "/{"+p.Name+"}"); ok && p.Name == "id" {
		out.Description = "The " + strings.TrimSuffix(collection(before), "s") + "'s id."
		out.Example = exampleID(before)
	}
	return out
}

func queryParam(rt *route, p input.Param) *huma.Param {
	schema, doc := *p.Schema, p.Doc // a copy: the operation validates with its own
	if p.Name == "sort" && len(rt.op.Input.Sorts) > 0 {
		schema.Enum = nil
		for _, name := range rt.op.Input.Sorts {
			schema.Enum = append(schema.Enum, name, "-"+name)
		}
		doc += " The newest come first when it is not given."
	}
	if doc == "" {
		doc = "Those whose " + p.Name + " is any of these."
	}
	out := &huma.Param{Name: p.Name, In: "query", Description: doc, Schema: &schema}
	if p.List {
		out.Schema = &huma.Schema{Type: huma.TypeArray, Items: &schema, MinItems: new(1), MaxItems: new(100)}
		out.Style, out.Explode = "form", new(false)
	}
	return out
}

// success describes the answer of a row's success.
func (d *document) success(rt *route) *huma.Response {
	var names []string
	if rt.single() {
		names = append(names, "ETag")
		if rt.status == http.StatusCreated {
			names = append(names, "Location")
		}
	}
	if rt.method != http.MethodGet {
		names = append(names, "Idempotency-Replayed")
	}
	out := &huma.Response{Description: http.StatusText(rt.status), Headers: headerRefs(append(names, limited...)...)}
	if rt.body == nil {
		return out
	}
	schema := d.answers.Schema(rt.resource, true, "")
	d.answers.SchemaFromRef(schema.Ref).Examples = []any{example(rt.resource, "")}
	if !rt.bare {
		schema = huma.SchemaFromType(d.answers, rt.body) // the envelope's schema is inlined, not a component
		schema.AdditionalProperties = nil
	}
	out.Content = jsonContent(schema, example(rt.body, ""))
	return out
}

func jsonContent(schema *huma.Schema, example json.RawMessage) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: schema, Example: example}}
}

// refusals lists the error statuses that a row can answer with.
func refusals(rt *route) []int {
	out := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}
	if strings.Contains(rt.path, "{") {
		out = append(out, http.StatusNotFound)
	}
	if rt.op.Action != op.Read || rt.op.Name == execution.PreviewMove.Info().Name { // the preview reports the conflicts of a write
		out = append(out, http.StatusConflict)
	}
	if rt.method == http.MethodPatch || rt.method == http.MethodDelete {
		out = append(out, http.StatusPreconditionFailed)
	}
	if rt.op.Input.HasBody() || rt.method == http.MethodPost {
		out = append(out, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if rt.method != http.MethodGet {
		out = append(out, http.StatusUnprocessableEntity)
	}
	return append(out, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
}
