package doors

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/graph"
	"atrium/internal/agent"
	"atrium/internal/agent/mcp"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

// allDoors serves REST, GraphQL and MCP on one listener.
func allDoors(p apitest.Parts) (http.Handler, error) {
	v1, err := rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL})
	if err != nil {
		return nil, err
	}
	tools, err := mcp.New(mcp.Options{Engine: p.Engine, Gate: p.Gate, Calls: v1.Inside(), Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", v1)
	mux.Handle("/graphql", graph.New(graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL}))
	mux.Handle(mcp.Path, tools)
	return mux, nil
}

// reader is an agent's key, used in a run.
type reader struct {
	name   string
	header http.Header
	as     *principal.Principal // as the gate makes it from the key
	tools  *sdk.ClientSession
}

// An agent's list contains exactly the rows that the decision about each row allows to the agent and, if the agent sees as the
// requester does, also to the requester. This is checked over random policies and rows, for every role of both, at all APIs. A
// case is a row, a caller and a set of policies.
func TestAnAgentsListIsWhatBothMayRead(t *testing.T) {
	t.Parallel()
	cases, seed := 10*testkit.Rounds(t, 200), rand.Uint64()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		t.Log("seed", seed)
		s := apitest.Serve(t, w, allDoors)
		g := &sight{random: rand.New(rand.NewPCG(seed, 1)), side: newSide(t, s)}
		rows, readers := g.rows(), g.readers()
		ctx := context.Background()
		require.NoError(t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			tx.AuthorityChanged()
			_, err := tx.AccessPolicy.Delete().Where(accesspolicy.Name("Allow everything")).Exec(ctx)
			return err
		}))
		seen, lists, mixed := 0, 0, 0
		// Two sets of policies may happen to show every reader all rows or none: more are tried then.
		for seen < cases || mixed*10 <= lists && seen < 20*cases {
			texts, leave := g.policies()
			set, err := w.Engine.Policies(ctx, w.A.Company.ID)
			require.NoError(t, err)
			for _, r := range readers {
				want := []string{}
				for _, row := range rows {
					if g.may(ctx, set, r.as, row) {
						want = append(want, row.ID)
					}
				}
				for door, got := range g.lists(r) {
					require.Equal(t, want, got, "%s, %s, with\n%s", door, r.name, texts)
				}
				seen += len(rows)
				lists++
				if 0 < len(want) && len(want) < len(rows) {
					mixed++
				}
			}
			leave()
		}
		t.Logf("%d cases at each of three doors, %d of %d lists tell rows apart", seen, mixed, lists)
		require.Greater(t, mixed*10, lists)
	})
}

// sight makes the rows, callers and policies of the test.
type sight struct {
	*side
	random *rand.Rand
}

func (g *sight) pick(of ...string) string { return of[g.random.IntN(len(of))] }

var allRoles = []principal.Role{principal.Owner, principal.Admin, principal.Agent, principal.Member}

// rows makes requests of users of every role.
func (g *sight) rows() []*ent.Request {
	g.t.Helper()
	w := g.s.World
	like, err := w.Store.Reader().Request.Get(w.As(w.A, principal.Owner), g.request())
	require.NoError(g.t, err)
	require.NoError(g.t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		var rows []*ent.RequestCreate
		for range 60 {
			c := tx.Request.Create().SetServiceID(like.ServiceID).SetOfferingID(like.OfferingID).SetTitle(g.pick("a", "ab", "b", "ba", "A")).
				SetCreatedBy(w.A.Users[allRoles[g.random.IntN(4)]].ID).SetStatus(request.Status(g.pick("PENDING", "IN_PROGRESS"))).
				SetPriority(request.Priority(g.pick("LOW", "MEDIUM", "HIGH", "URGENT")))
			if g.random.IntN(3) > 0 {
				c.SetTags(map[string]string{"env": g.pick("prod", "test")})
			}
			if g.random.IntN(2) == 0 {
				c.SetAssigneeID(w.A.Users[principal.Agent].ID)
			}
			rows = append(rows, c)
		}
		return tx.Request.CreateBulk(rows...).Exec(ctx)
	}))
	return g.all()
}

// all returns the company's requests in the order of their ids.
func (g *sight) all() []*ent.Request {
	g.t.Helper()
	w := g.s.World
	rows, err := w.Store.Reader().Request.Query().Order(request.ByID()).All(w.As(w.A, principal.Owner))
	require.NoError(g.t, err)
	return rows
}

// readers makes agents of both roles, each in runs on requests of users of every role.
func (g *sight) readers() []reader {
	g.t.Helper()
	w, out := g.s.World, []reader{}
	door := agent.NewDoor(w.Engine, worker.Models{})
	for _, role := range []principal.Role{principal.Agent, principal.Member} {
		for _, sees := range []string{"requester", "agent"} {
			made := by(g.side, agent.Create, agent.CreateInput{Name: "Robot", Type: "QUEUE_INTAKE", Source: "CUSTOM", Autonomy: "SUGGEST", Sees: &sees, Role: new(string(role))})
			by(g.side, agent.Publish, op.ByID{ID: made.ID})
			key := by(g.side, agent.CreateKey, agent.CreateKeyInput{AgentID: made.ID, Name: "K"})
			for _, filer := range allRoles {
				r := reader{name: fmt.Sprintf("an agent as %s that sees as the %s, an %s", role, sees, filer), header: http.Header{"X-Api-Key": {key.Value}}}
				i := slices.IndexFunc(g.all(), func(r *ent.Request) bool { return r.CreatedBy == w.A.Users[filer].ID })
				r.header.Set("Agent-Run", g.run(made.ID, g.all()[i].ID))
				as, err := door.As(context.Background(), &principal.Principal{
					CompanyID: w.A.Company.ID, Type: principal.TypeAgent, ID: made.ID, Name: "Robot", Scopes: principal.AllScopes, Method: principal.MethodAPIKey, KeyID: key.ID,
				}, r.header.Get("Agent-Run"))
				require.NoError(g.t, err)
				r.as = as
				r.tools = g.dial(r.header)
				out = append(out, r)
				if sees == "agent" {
					break // whoever filed the request, the agent sees the same
				}
			}
		}
	}
	return out
}

// run makes a run of an agent on a request, numbered after the request's earlier runs.
func (g *sight) run(agentID, requestID string) (id string) {
	g.t.Helper()
	w := g.s.World
	require.NoError(g.t, w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
		n, err := tx.AgentRun.Query().Where(agentrun.RequestID(requestID)).Count(ctx)
		if err != nil {
			return err
		}
		run, err := tx.AgentRun.Create().SetAgentID(agentID).SetAgentVersion(1).SetRequestID(requestID).SetNumber(n + 1).SetTrigger(agentrun.TriggerCreated).
			SetStatus(agentrun.StatusWAITING).Save(ctx)
		if err == nil {
			id = run.ID
		}
		return err
	}))
	return id
}

// withHeader adds headers to every call of a client.
type withHeader struct {
	header http.Header
	next   http.RoundTripper
}

func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range w.header {
		r.Header[k] = v
	}
	return w.next.RoundTrip(r)
}

func (g *sight) dial(header http.Header) *sdk.ClientSession {
	g.t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(g.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: g.s.URL + mcp.Path, HTTPClient: &http.Client{Transport: withHeader{header, g.s.HTTP.Transport}}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(g.t, err)
	g.t.Cleanup(func() { _ = c.Close() })
	return c
}

// lists returns the ids that a reader gets from each API, in order.
func (g *sight) lists(r reader) map[string][]string {
	g.t.Helper()
	as := apitest.Caller{Header: r.header}
	v1 := g.s.Send(g.t, apitest.Scenario{As: as, Path: "/v1/requests?pageSize=100"})
	require.Equal(g.t, http.StatusOK, v1.Status, "%s", v1.Body)
	gql := g.s.Send(g.t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": "{ requests(first: 100) { edges { node { id } } } }"}})
	require.Equal(g.t, http.StatusOK, gql.Status, "%s", gql.Body)
	res, err := r.tools.CallTool(g.t.Context(), &sdk.CallToolParams{Name: "requests", Arguments: vars{"pageSize": 100}})
	require.NoError(g.t, err)
	text, ok := res.Content[0].(*sdk.TextContent)
	require.True(g.t, ok && !res.IsError)
	return map[string][]string{"REST": requestsIn(v1.Body), "GraphQL": requestsIn(gql.Body), "MCP": requestsIn([]byte(text.Text))}
}

// requestsIn returns the ids of requests in an answer.
func requestsIn(body []byte) []string {
	ids := []string{}
	var look func(any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				look(e)
			}
		case map[string]any:
			if id, _ := v["id"].(string); strings.HasPrefix(id, "req_") {
				ids = append(ids, id)
			}
			for _, e := range v {
				look(e)
			}
		}
	}
	var all any
	if err := json.Unmarshal(body, &all); err != nil {
		return []string{err.Error()}
	}
	look(all)
	slices.Sort(ids)
	return ids
}

// policies puts random policies into force until leave is called.
func (g *sight) policies() (texts string, leave func()) {
	g.t.Helper()
	var made []string
	add := func(effect, resource string, condition vars) {
		raw, err := json.Marshal(condition)
		require.NoError(g.t, err)
		c := policy.NewCondition(raw)
		p := by(g.side, policy.Create, policy.CreateInput{Name: "P", Effect: effect, Action: g.pick("read", "read", "*"), Resource: resource, Condition: &c})
		made = append(made, p.ID)
		texts += fmt.Sprintf("%s %s %s\n", effect, resource, raw)
	}
	if g.random.IntN(3) > 0 {
		add("Allow", "*", vars{})
	}
	for range 1 + g.random.IntN(3) {
		condition := vars{}
		for range 1 + g.random.IntN(2) {
			path, value := g.entry()
			condition[path] = value
		}
		add(g.pick("Allow", "Deny", "Deny"), "Request", condition)
	}
	return texts, func() {
		for _, id := range made {
			by(g.side, policy.Delete, op.ByID{ID: id})
		}
	}
}

// entry returns a random entry of a condition.
func (g *sight) entry() (path string, value any) {
	w := g.s.World.A
	role := allRoles[g.random.IntN(4)]
	switch g.random.IntN(12) {
	case 0:
		return "resource.priority", g.pick("LOW", "HIGH")
	case 1:
		return "resource.priority", vars{"nin": []string{"MEDIUM", "URGENT"}}
	case 2:
		return "resource.status", g.pick("PENDING", "IN_PROGRESS")
	case 3:
		return "resource.title", vars{"prefix": g.pick("a", "b", "A")}
	case 4:
		return "resource.title", vars{"glob": g.pick("*a", "?b*", "*")}
	case 5:
		return "resource.tags.env", vars{g.pick("eq", "ne"): g.pick("prod", "test")}
	case 6:
		return "resource.assigneeId", vars{"exists": g.random.IntN(2) == 0}
	case 7:
		return "resource.createdBy", vars{g.pick("eq", "ne"): g.pick("${principal.id}", w.Users[role].ID)}
	case 8:
		return "principal.type", g.pick("agent", "user")
	case 9:
		return "principal.role", string(role)
	case 10:
		return "principal.id", w.Users[role].ID
	default:
		return "context.authMethod", g.pick("api_key", "session")
	}
}

// may reports whether the decision about a row allows it to an agent, and to the requester on whose behalf it reads, if any.
func (g *sight) may(ctx context.Context, set *authz.Set, p *principal.Principal, r *ent.Request) bool {
	g.t.Helper()
	row, ok := authz.RowOf(r, nil)
	require.True(g.t, ok)
	allows := func(who *principal.Principal) bool {
		c, err := g.s.World.Engine.Caller(ctx, set, who)
		require.NoError(g.t, err)
		d, err := g.s.World.Engine.Authz.DecideRow(ctx, set, c, authz.Question{Verb: "request.read", Action: "read", Resource: "Request", Scope: "requests:read"}, row)
		require.NoError(g.t, err)
		return d.Allow
	}
	if p.Run.Requester == nil {
		return allows(p) && (p.Role != principal.Member || r.CreatedBy == p.ID)
	}
	requester := *p.Run.Requester
	requester.Method = p.Method // the agent makes the call
	own := p.Role == principal.Member || requester.Role == principal.Member
	return allows(p) && allows(&requester) && (!own || r.CreatedBy == requester.ID)
}
