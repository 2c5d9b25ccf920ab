package doors

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph/generated"
	"atrium/internal/test/apitest"
)

type vars = map[string]any

// call is one operation in the terms of both APIs.
type call struct {
	name   string
	method string // of REST
	path   string // below /v1; {id} stands for the row's id
	query  string // REST's query, of lists
	root   string // the root field in GraphQL
	args   string // GraphQL's arguments, of lists, as in the document
	typ    string // the row's type in GraphQL
	about  string // the input's field that holds {id}; "id" when empty
	scope  string

	row  func(*side) string // makes the row that {id} is, or nil
	body func(*side) vars   // nil for none
}

// side makes the rows of one API's calls; each API changes rows of its own, in the same way.
type side struct {
	t     *testing.T
	s     *apitest.Server
	tag   string            // in every name that this side makes
	known map[string]string // replacements by id
}

var tags atomic.Int64

func newSide(t *testing.T, s *apitest.Server) *side {
	return &side{t: t, s: s, tag: fmt.Sprintf("x%08d", tags.Add(1)), known: map[string]string{}}
}

// is registers a replacement for an id, so that the answers of both sides can be compared.
func (d *side) is(name, id string) string {
	d.known[name] = id
	return id
}

// outcome is everything that the caller and the company's admins can see of a call.
type outcome struct {
	Code    string
	Reason  string
	Details []string
	Data    any // without what differs from row to row
	Audit   []entry
	Events  []string
}

type entry struct {
	Action, Outcome, ResourceType, Resource, Actor string
	Changed                                        []string
}

// compare makes the call through both APIs as the caller, each on rows of its own, and requires the same outcome.
func compare(t *testing.T, s *apitest.Server, c call, as apitest.Caller) outcome {
	t.Helper()
	r := throughREST(newSide(t, s), c, as)
	g := throughGraphQL(newSide(t, s), c, as)
	if c.row != nil && c.args != "" {
		r.Audit, g.Audit = nil, nil // GraphQL reads the parent first, and that read is refused
	}
	require.Equal(t, r, g, "%s as %s", c.name, as.Name)
	return r
}

func throughREST(d *side, c call, as apitest.Caller) outcome {
	d.t.Helper()
	path := d.path(c)
	sc := apitest.Scenario{As: as, Method: c.method, Path: "/v1" + path + c.query}
	if c.body != nil {
		sc.Body = c.body(d)
	}
	a := d.s.Send(d.t, sc)
	out := outcome{}
	if a.Status >= http.StatusBadRequest {
		out.Code, out.Reason = a.Text("error"), a.Text("reason")
		out.Details = rowsOf(a, "details")
	} else if len(a.Body) > 0 {
		data, _ := apitest.At(a.JSON(), "data")
		d.made(data)
		out.Data = d.plain(data)
	}
	return d.trail(out, a)
}

func throughGraphQL(d *side, c call, as apitest.Caller) outcome {
	d.t.Helper()
	d.path(c)
	query, variables := d.document(c)
	a := d.s.Send(d.t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": variables}})
	out := outcome{}
	if a.Has("errors") {
		out.Code, out.Reason = a.Text("errors.0.extensions.code"), a.Text("errors.0.extensions.reason")
		out.Details = rowsOf(a, "errors.0.extensions.details")
		require.Contains(d.t, []int{http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized}, a.Status, "%s", a.Body)
		require.Equal(d.t, a.RequestID(), a.Text("errors.0.extensions.requestId"))
	} else {
		require.Equal(d.t, http.StatusOK, a.Status, "%s", a.Body)
		data := a.Get("data." + c.root)
		switch {
		case strings.HasPrefix(query, "mutation") && c.method == http.MethodDelete:
			require.Equal(d.t, d.known["<id>"], a.Text("data."+c.root+".id"))
			data = nil
		case strings.HasPrefix(query, "mutation"):
			data, _ = apitest.At(data, lower(c.typ))
		case c.row == nil || c.args != "":
			data = nodesOf(d.t, data)
		}
		if data != nil {
			d.made(data)
			out.Data = d.plain(data)
		}
	}
	return d.trail(out, a)
}

// path returns the path in REST, and makes the row that it names.
func (d *side) path(c call) string {
	if c.row == nil {
		return c.path
	}
	return strings.ReplaceAll(c.path, "{id}", d.is("<id>", c.row(d)))
}

var schema = generated.NewExecutableSchema(generated.Config{}).Schema()

// document returns the call as a GraphQL document with its variables.
func (d *side) document(c call) (string, vars) {
	columns := columnsOf(schema.Types[c.typ], 0)
	id := d.known["<id>"]
	switch {
	case c.method == http.MethodGet && c.args != "" && c.row != nil: // children of a row
		parent, list, _ := strings.Cut(c.root, ".")
		return fmt.Sprintf("query($id: ID!) { %s(id: $id) { %s(%s) { totalCount edges { node { %s } } } } }", parent, list, c.args, columns), vars{"id": id}
	case c.method == http.MethodGet && c.row != nil:
		return fmt.Sprintf("query($id: ID!) { %s(id: $id) { %s } }", c.root, columns), vars{"id": id}
	case c.method == http.MethodGet:
		return fmt.Sprintf("{ %s(%s) { totalCount edges { node { %s } } } }", c.root, c.args, columns), nil
	}
	input := vars{}
	if c.body != nil {
		input = c.body(d)
	}
	if c.row != nil {
		about := c.about
		if about == "" {
			about = "id"
		}
		input[about] = id
	}
	name := strings.ToUpper(c.root[:1]) + c.root[1:]
	selected := lower(c.typ) + " { " + columns + "}"
	if c.method == http.MethodDelete {
		selected = "id"
	}
	return fmt.Sprintf("mutation($input: %sInput!) { %s(input: $input) { %s } }", name, c.root, selected), vars{"input": input}
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// columnsOf selects all fields of a type that do not lead to another row.
func columnsOf(def *ast.Definition, depth int) string {
	var b strings.Builder
	for _, f := range def.Fields {
		of := schema.Types[f.Type.Name()]
		switch {
		case len(f.Arguments) > 0, strings.HasPrefix(f.Name, "__"):
		case of.Kind == ast.Interface, f.Name == "people", f.Name == "watchers", f.Name == "links": // edges
		case of.Kind != ast.Object:
			b.WriteString(f.Name + " ")
		case depth < 3 && !slices.Contains(of.Interfaces, "Node"):
			b.WriteString(f.Name + " { " + columnsOf(of, depth+1) + "} ")
		}
	}
	return b.String()
}

// nodesOf returns the nodes of a connection, and requires that there are no more pages.
func nodesOf(t *testing.T, connection any) any {
	t.Helper()
	if m, ok := connection.(vars); ok && m["edges"] == nil {
		connection = slices.Collect(maps.Values(m))[0] // the connection is nested in its parent
	}
	edges, _ := apitest.At(connection, "edges")
	list, ok := edges.([]any)
	require.True(t, ok, "%v", connection)
	rows := []any{}
	for _, e := range list {
		node, _ := apitest.At(e, "node")
		rows = append(rows, node)
	}
	total, _ := apitest.At(connection, "totalCount")
	require.EqualValues(t, len(rows), total)
	return rows
}

// made registers the id of a row that a call made.
func (d *side) made(data any) {
	id, _ := apitest.At(data, "id")
	if text, ok := id.(string); ok && !slices.Contains(slices.Collect(maps.Values(d.known)), text) {
		d.is("<made>", text)
	}
}

// later are fields of REST that GraphQL does not show in the same form.
var later = []string{"sla"}

// plain returns data without what differs from row to row: times, and the side's own names and ids.
func (d *side) plain(data any) any {
	switch v := data.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = d.plain(e)
		}
		return out
	case vars:
		out := vars{}
		for k, e := range v {
			out[k] = d.plain(e)
		}
		delete(out, "etag")      // REST has it as a header
		delete(out, "viewerMay") // only pages use it
		delete(out, "content")   // and this, which says what the text and its format do
		for _, k := range []string{"createdAt", "updatedAt", "at", "acceptedAt", "firstResponseAt", "completedAt", "cancelledAt"} {
			if s, ok := out[k].(string); ok {
				require.Regexp(d.t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, s, k)
				out[k] = "a time"
			}
		}
		if _, request := out["offeringId"]; request && out["title"] != nil {
			for _, k := range later {
				delete(out, k)
			}
			if _, shown := out["number"]; shown {
				require.Positive(d.t, out["number"])
				out["number"] = "a number"
			}
		}
		return out
	case string:
		v = strings.ReplaceAll(v, d.tag, "x")
		for _, name := range slices.Sorted(maps.Keys(d.known)) {
			v = strings.ReplaceAll(v, d.known[name], name)
		}
		return strings.ReplaceAll(v, strings.ToUpper(d.tag), "X")
	}
	return data
}

// rowsOf returns the details of a refusal in order.
func rowsOf(a *apitest.Answer, path string) []string {
	var out []string
	details, _ := a.Get(path).([]any)
	for _, d := range details {
		field, _ := apitest.At(d, "field")
		out = append(out, fmt.Sprint(field))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// trail adds the audit entries and the events that the call left.
func (d *side) trail(out outcome, a *apitest.Answer) outcome {
	d.t.Helper()
	for _, e := range d.s.Audit(d.t, a.RequestID()) {
		row := entry{Action: e.Action, Outcome: string(e.Outcome), ResourceType: e.ResourceType, Actor: e.ActorID}
		if e.ResourceID != nil {
			row.Resource, _ = d.plain(*e.ResourceID).(string)
		}
		changes := map[string]json.RawMessage{}
		if len(e.Changes) > 0 {
			require.NoError(d.t, json.Unmarshal(e.Changes, &changes))
		}
		row.Changed = slices.Sorted(maps.Keys(changes))
		out.Audit = append(out.Audit, row)
	}
	for _, name := range []string{"<id>", "<made>"} {
		if id := d.known[name]; id != "" {
			out.Events = append(out.Events, d.s.Events(d.t, id)...)
		}
	}
	return out
}
