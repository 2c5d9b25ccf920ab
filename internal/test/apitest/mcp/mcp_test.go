// Package mcp_test tests the MCP API together with REST, which it calls: through the SDK's own client, on both databases. It has
// tests and nothing else, because package mcp does not import rest.
package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent/auditentry"
	"atrium/internal/agent/mcp"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type vars = map[string]any

// each runs fn against a server with REST and MCP, on both databases.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		fn(t, apitest.Serve(t, w, doors))
	})
}

// doors builds REST and MCP on one listener.
func doors(p apitest.Parts) (http.Handler, error) {
	api, err := rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL})
	if err != nil {
		return nil, err
	}
	door, err := mcp.New(mcp.Options{Engine: p.Engine, Gate: p.Gate, Calls: api.Inside(), Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle(mcp.Path, door)
	mux.Handle(mcp.MetadataPath, door.Metadata())
	return mux, nil
}

// sends adds headers to every call of a client.
type sends struct {
	header http.Header
	next   http.RoundTripper
}

func (s sends) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range s.header {
		r.Header[k] = v
	}
	return s.next.RoundTrip(r)
}

// dial connects the SDK's own client with a caller's headers.
func dial(t *testing.T, s *apitest.Server, header http.Header) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: s.URL + mcp.Path, HTTPClient: &http.Client{Transport: sends{header, s.HTTP.Transport}}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call calls a tool and returns its body.
func call(t *testing.T, c *sdk.ClientSession, tool string, arguments vars) (body vars, isError bool) {
	t.Helper()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err)
	require.Len(t, res.Content, 1)
	text, ok := res.Content[0].(*sdk.TextContent)
	require.True(t, ok)
	require.NoError(t, json.Unmarshal([]byte(text.Text), &body), text.Text)
	return body, res.IsError
}

// A panic within a tool answers one call with an error, and the server goes on. The access log has the tool's operation and status.
func TestAPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	lines := make(logged, 10)
	s := apitest.Serve(t, w, func(p apitest.Parts) (http.Handler, error) {
		p.Gate.AccessLog, p.Gate.Logged = slog.New(slog.NewJSONHandler(lines, nil)), gate.LogErrors
		calls := func(_ context.Context, _ *op.Info, params url.Values, _ []byte, _ []string) (*op.Answer, error) {
			if params.Get("id") == "req_1" {
				panic("a fault of ours")
			}
			return nil, errors.New("another")
		}
		return mcp.New(mcp.Options{Engine: p.Engine, Gate: p.Gate, Calls: calls, Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL})
	})
	c := dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}})
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "request", Arguments: vars{"id": "req_1"}})
	require.ErrorContains(t, err, "went wrong on our side")
	require.NotContains(t, err.Error(), "a fault of ours")
	body, isError := call(t, c, "request", vars{"id": "req_2"})
	require.True(t, isError)
	require.Equal(t, "internal_error", body["error"])
	for range 2 {
		require.Contains(t, <-lines, `"operation":"request.read","status":500`)
	}
}

// logged receives the lines of a log.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func names(t *testing.T, c *sdk.ClientSession) (list []string, bytes int) {
	t.Helper()
	res, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range res.Tools {
		list = append(list, tool.Name)
		raw, err := json.Marshal(tool)
		require.NoError(t, err)
		bytes += len(raw)
	}
	return list, bytes
}

func offering(t testing.TB, s *apitest.Server, f *form.Definition) (service, offering string) {
	t.Helper()
	ctx := s.World.As(s.A.Tenant, principal.Owner)
	service = testkit.Run(t, s.World, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"}).ID
	return service, testkit.Run(t, s.World, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: service}, Name: "Laptop", Form: f}).ID
}

// A standard client works on a request from its filing to its end with a key, and the audit log says through which API.
func TestAStockClientWorksARequest(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		service, offered := offering(t, s, &form.Definition{Fields: []form.Field{
			{Key: "model", Type: form.Select, Required: true, Options: []string{"14", "16"}},
			{Key: "why", Type: form.Text, Required: true, VisibleWhen: map[string]any{"model": "16"}},
		}})
		c := dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}})
		list, _ := call(t, c, "services", vars{"q": "IT"})
		require.Len(t, list["data"], 1)
		list, _ = call(t, c, "offerings", vars{"id": service})
		require.NotContains(t, list["data"].([]any)[0], "form")
		one, _ := call(t, c, "offering", vars{"id": offered})
		schema := one["data"].(vars)["fieldsSchema"].(vars)
		require.Equal(t, []any{"model"}, schema["required"])
		require.Equal(t, []any{"14", "16"}, schema["properties"].(vars)["model"].(vars)["enum"])

		refused, isError := call(t, c, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "A laptop", "fields": vars{"model": "15"}})
		require.True(t, isError)
		require.Equal(t, "validation_error", refused["error"])
		require.Equal(t, "fields.model", refused["details"].([]any)[0].(vars)["field"])
		made, isError := call(t, c, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "A laptop", "fields": vars{"model": "14"}})
		require.False(t, isError, "%v", made)
		id := made["data"].(vars)["id"].(string)
		accepted, _ := call(t, c, "acceptRequest", vars{"id": id})
		require.Equal(t, "IN_PROGRESS", accepted["data"].(vars)["status"])
		said, _ := call(t, c, "createComment", vars{"id": id, "body": "On its way."})
		require.Equal(t, "On its way.", said["data"].(vars)["body"])
		done, _ := call(t, c, "updateRequest", vars{"id": id, "status": "COMPLETED"})
		require.Equal(t, "COMPLETED", done["data"].(vars)["status"])
		refused, isError = call(t, c, "acceptRequest", vars{"id": id})
		require.True(t, isError)
		require.Equal(t, "conflict", refused["error"])
		found, _ := call(t, c, "requests", vars{"status": []string{"COMPLETED", "PENDING"}, "pageSize": 5})
		require.Len(t, found["data"], 1)
		again, _ := call(t, c, "reopenRequest", vars{"id": id, "reason": "It broke again."})
		require.Equal(t, "IN_PROGRESS", again["data"].(vars)["status"])

		entry, err := s.World.Store.Reader().AuditEntry.Query().
			Where(auditentry.ResourceID(id), auditentry.Action("request.created")).Only(s.World.As(s.A.Tenant, principal.Owner))
		require.NoError(t, err)
		require.Contains(t, string(entry.Changes), `"via"`)
		require.Contains(t, string(entry.Changes), `"mcp"`)
		require.Equal(t, s.A.OwnerKey.KeyID, entry.ActorID)
	})
}

// tools/list returns what the caller's role and scopes allow, and is short enough for every conversation.
func TestToolsAreTheCallers(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		all, bytes := names(t, dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}}))
		require.Contains(t, all, "declineRequest")
		require.NotContains(t, all, "claimAgentRun", "a person has no runs")
		require.LessOrEqual(t, bytes/3, 4000, "tokens, at three bytes each: %d bytes", bytes)
		member, _ := names(t, dial(t, s, s.A.Member.Header))
		require.Contains(t, member, "createRequest")
		require.NotContains(t, member, "acceptRequest")
		narrow := s.Key(t, s.A.Tenant, s.A.Tenant.Owner, apitest.KeyOptions{Scopes: []string{"services:read"}})
		few, _ := names(t, dial(t, s, http.Header{"Authorization": {"Bearer " + narrow.Value}}))
		require.Equal(t, []string{"services", "offerings", "offering"}, few)

		// Calling a tool that is not listed returns our error.
		c := dial(t, s, http.Header{"X-Api-Key": {narrow.Value}})
		body, isError := call(t, c, "requests", nil)
		require.True(t, isError)
		require.Equal(t, "forbidden", body["error"])
		require.Equal(t, "requests:read", body["reason"])
	})
}

// Ids of another company are answered as unknown, and policies hide rows as in the other APIs.
func TestNothingOfOthers(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		service, offered := offering(t, s, nil)
		mine := dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}})
		made, _ := call(t, mine, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "Secret"})
		id := made["data"].(vars)["id"].(string)
		theirs := dial(t, s, http.Header{"X-Api-Key": {s.B.OwnerKey.Value}})
		for tool, arguments := range map[string]vars{
			"request": {"id": id}, "acceptRequest": {"id": id}, "updateRequest": {"id": id, "title": "x"}, "moveRequest": {"id": id, "offeringId": offered}, "offering": {"id": offered},
			"offerings": {"id": service}, "createComment": {"id": id, "body": "x"}, "comments": {"id": id}, "requestPeople": {"id": id}, "declineRequest": {"id": id, "reason": "x"},
			"reopenRequest": {"id": id},
		} {
			body, isError := call(t, theirs, tool, arguments)
			require.True(t, isError, tool)
			require.Equal(t, "not_found", body["error"], tool)
			require.NotContains(t, body["message"], "Secret")
		}
		list, _ := call(t, theirs, "requests", nil)
		require.Empty(t, list["data"])
		body, isError := call(t, mine, "request", vars{"id": "../users"})
		require.True(t, isError)
		require.Equal(t, "not_found", body["error"], "an id is no way to another path")

		hidden := policy.NewCondition([]byte(`{"resource.title": "Secret"}`))
		testkit.Run(t, s.World, s.World.As(s.A.Tenant, principal.Owner), policy.Create, policy.CreateInput{
			Name: "D", Effect: "Deny", Action: "read", Resource: "Request", Condition: &hidden,
		})
		body, isError = call(t, mine, "request", vars{"id": id})
		require.True(t, isError)
		require.Equal(t, "forbidden", body["error"])
		list, _ = call(t, mine, "requests", nil)
		require.Empty(t, list["data"])
	})
}

// Faulty arguments are named like fields, and an idempotency key makes a call take effect once.
func TestArgumentsAndKeys(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		service, offered := offering(t, s, nil)
		c := dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}})
		for _, faulty := range []struct {
			tool, field string
			arguments   vars
		}{
			{"createRequest", "title", vars{"serviceId": service, "offeringId": offered}},
			{"createRequest", "colour", vars{"serviceId": service, "offeringId": offered, "title": "t", "colour": "red"}},
			{"request", "id", nil}, {"request", "ids", vars{"id": "req_1", "ids": 1}}, {"requests", "status", vars{"status": "LOST"}},
			{"requests", "createdBy", vars{"createdBy": "usr_1"}}, {"requests", "status", vars{"status": vars{}}},
			{"request", "id", vars{"id": nil}}, {"requests", "colour", vars{"colour": nil}}, {"requests", "pageSize", vars{"pageSize": json.RawMessage("1.5")}},
		} {
			body, isError := call(t, c, faulty.tool, faulty.arguments)
			require.True(t, isError, faulty)
			require.Equal(t, "validation_error", body["error"], faulty)
			require.Equal(t, faulty.field, body["details"].([]any)[0].(vars)["field"], faulty)
		}
		once := dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}, "Idempotency-Key": {"once"}})
		first, _ := call(t, once, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "t"})
		again, _ := call(t, once, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "t"})
		require.Equal(t, first, again)
		other, isError := call(t, once, "createRequest", vars{"serviceId": service, "offeringId": offered, "title": "u"})
		require.True(t, isError)
		require.Equal(t, "idempotency_mismatch", other["error"])

		// The same call has the same fingerprint over HTTP.
		id, key := first["data"].(vars)["id"].(string), http.Header{"X-Api-Key": {s.A.OwnerKey.Value}, "Idempotency-Key": {"twice"}}
		s.Do(t, apitest.Scenario{As: s.A.OwnerKey, Method: http.MethodPost, Path: "/v1/requests/" + id + "/comments", Header: http.Header{"Idempotency-Key": {"twice"}}, Body: `{"body":"On its way."}`, WantStatus: http.StatusCreated})
		said, isError := call(t, dial(t, s, key), "createComment", vars{"id": id, "body": "On its way."})
		require.False(t, isError, said)
		list, _ := call(t, c, "comments", vars{"id": id})
		require.Len(t, list["data"], 1)

		// Null is not given, and a whole number may have a point or an exponent.
		list, isError = call(t, c, "requests", vars{"status": nil, "q": nil, "sort": nil, "page": json.RawMessage("1.0"), "pageSize": json.RawMessage("6e1")})
		require.False(t, isError, list)
		require.Len(t, list["data"], 1)
	})
}

// A caller without a credential is told where people sign in; cookies and batches are refused.
func TestWhoIsRefusedAtTheDoor(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		post := func(header http.Header, body string) (int, http.Header, string) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+mcp.Path, strings.NewReader(body))
			require.NoError(t, err)
			req.Header = header.Clone()
			if req.Header == nil {
				req.Header = http.Header{}
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := s.HTTP.Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			answered, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return res.StatusCode, res.Header, string(answered)
		}
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		session := s.Session(t, s.A.Tenant.Owner)
		for _, header := range []http.Header{nil, session.Header, {"X-Api-Key": {"key_live_x"}}, {"Authorization": {"Bearer x"}}} {
			status, h, body := post(header, ping)
			require.Equal(t, http.StatusUnauthorized, status)
			require.Contains(t, h.Get("WWW-Authenticate"), `resource_metadata="`+testkit.BaseURL+mcp.MetadataPath+mcp.Path+`"`)
			require.Contains(t, body, `"unauthorized"`)
		}
		as := http.Header{"X-Api-Key": {s.A.OwnerKey.Value}}
		status, h, _ := post(as, ping)
		require.Equal(t, http.StatusOK, status)
		require.NotEmpty(t, h.Get("RateLimit"))
		require.Empty(t, h.Get("Mcp-Session-Id"), "any node answers any call")
		status, _, body := post(as, "["+ping+","+ping+"]")
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, "batches")
		status, _, _ = post(as, `{"jsonrpc":"2.0","id":1,"method":"ping","x":"`+strings.Repeat("a", 1<<20)+`"}`)
		require.Equal(t, http.StatusRequestEntityTooLarge, status)
		status, _, _ = post(http.Header{"X-Api-Key": {s.A.OwnerKey.Value}, "Agent-Run": {"run_1"}}, ping)
		require.Equal(t, http.StatusForbidden, status)

		for origin, want := range map[string]int{testkit.BaseURL: http.StatusOK, "https://elsewhere.example": http.StatusForbidden, "null": http.StatusForbidden} {
			status, _, _ = post(http.Header{"X-Api-Key": {s.A.OwnerKey.Value}, "Origin": {origin}}, ping)
			require.Equal(t, want, status, "from a page of %s", origin)
		}

		a := s.Send(t, apitest.Scenario{Path: mcp.MetadataPath})
		require.Equal(t, testkit.BaseURL+mcp.Path, a.Text("resource"))
	})
}
