package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An operator opens GraphiQL in Chromium, pastes a token, runs operations, watches changes and reads the documentation, in light
// and dark mode. The page violates no policy of its own, sends no cookie, loads nothing from elsewhere and stores nothing.
func TestGraphiQL(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n := p.serve()
	first := p.firstRun()
	require.Equal(t, "graphiql "+n.admin+"/graphiql", n.await("graphiql "))
	require.Contains(t, n.script("graphiql.mjs", map[string]any{
		"api": n.base, "admin": n.admin, "token": p.token(first.Company.ID, first.Owner.Email), "company": first.Company.ID,
		"request": map[string]any{"serviceId": first.Demo.ServiceID, "offeringId": first.Demo.OfferingID, "fields": map[string]any{"model": "13 inch"}},
	}), "graphiql: ok")
}

// plainly makes a call to the admin listener, with any path and headers; Host may be one of the headers.
func (n *node) plainly(method, path, body string, headers map[string]string) answer {
	n.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, n.admin+path, strings.NewReader(body))
	require.NoError(n.t, err)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Host = headers["Host"]
	res, err := n.client().Do(req)
	require.NoError(n.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(n.t, err)
	return answer{res.StatusCode, res.Header, string(b)}
}

// GraphQL on the admin listener gives callers no more rights than their own credentials, and answers only its own page. The API's
// listener has no GraphiQL.
func TestGraphQLOnTheAdminListener(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n := p.serve()
	first := p.firstRun()
	owner := p.token(first.Company.ID, first.Owner.Email)
	const viewer, newKey = `{"query": "{ viewer { email } }"}`, `{"query": "mutation { createApiKey(input: {name: \"x\", scopes: [\"services:read\"]}) { value } }"}`
	for _, c := range []struct {
		name, body string
		headers    map[string]string
		status     int
		says       string
	}{
		{"an access token", viewer, map[string]string{"Authorization": "Bearer " + owner}, 200, first.Owner.Email},
		{"an API key", viewer, map[string]string{"X-Api-Key": first.LiveKey}, 200, first.Owner.Email},
		{"an API key and the admin layer", newKey, map[string]string{"X-Api-Key": first.LiveKey}, 200, `"forbidden"`},
		{"nobody", viewer, nil, 401, `"unauthorized"`},
		{"nobody introspects", `{"query": "{ __schema { types { name } } }"}`, nil, 401, `"unauthorized"`},
		{"a made up token", viewer, map[string]string{"Authorization": "Bearer x"}, 401, `"unauthorized"`},
		{"a cookie alone", viewer, map[string]string{"Cookie": "__Host-atrium_session=x", "X-Requested-With": "x"}, 401, `"unauthorized"`},
		{"another host", viewer, map[string]string{"X-Api-Key": first.LiveKey, "Host": "rebound.test:9443"}, 403, `"forbidden"`},
		{"another origin", viewer, map[string]string{"X-Api-Key": first.LiveKey, "Origin": "https://evil.test"}, 403, `"forbidden"`},
		{"the API's own origin", viewer, map[string]string{"X-Api-Key": first.LiveKey, "Origin": n.base}, 403, `"forbidden"`},
		{"another site", viewer, map[string]string{"X-Api-Key": first.LiveKey, "Sec-Fetch-Site": "cross-site"}, 403, `"forbidden"`},
		{"a form", viewer, map[string]string{"X-Api-Key": first.LiveKey, "Content-Type": "text/plain"}, 415, `"unsupported_media_type"`},
		{"too complex", `{"query": "{ services(first: 100) { edges { node { offerings(first: 100) { edges { node { id } } } } } } }"}`, map[string]string{"X-Api-Key": first.LiveKey}, 400, `"query_too_complex"`},
	} {
		a := n.plainly("POST", "/graphql", c.body, c.headers)
		require.Equal(t, c.status, a.status, "%s: %s", c.name, a.body)
		require.Contains(t, a.body, c.says, c.name)
		require.Empty(t, a.header["Access-Control-Allow-Origin"], c.name)
		if a.status == 200 {
			require.NotEmpty(t, a.header.Get("RateLimit"), "%s: it is counted as anywhere", c.name)
		}
	}
	require.Equal(t, 403, n.plainly("GET", "/graphiql", "", map[string]string{"Host": "rebound.test"}).status)
	require.Equal(t, 200, n.plainly("GET", "/graphiql", "", nil).status)

	// Other paths of the listener are unchanged, and REST is not served there.
	require.Equal(t, 200, n.plainly("GET", "/healthz", "", map[string]string{"Host": "probe.test"}).status)
	require.Equal(t, 404, n.plainly("GET", "/v1/services", "", map[string]string{"X-Api-Key": first.LiveKey}).status)

	for _, path := range []string{"/graphiql", "/graphiql/graphiql.js"} {
		n.call(n.client(), 404, "GET", path, first.LiveKey, "")
	}
	// Calls made there are in the audit log like any others.
	require.Equal(t, 1, countRows(t, p, "audit_entries WHERE action = 'apikey.created' AND outcome = 'denied' AND ip = '127.0.0.1'"))
}

// An operator views the jobs of the queue and the process's profiles, on both databases. A page of another site cannot.
func TestJobsOnTheAdminListener(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		p = p.prepared()
		n := p.serve()
		require.Contains(t, n.plainly("GET", "/river/", "", nil).body, "<title>River</title>")
		var states map[string]int
		require.NoError(t, json.Unmarshal([]byte(n.plainly("GET", "/river/api/states", "", nil).body), &states))
		require.Contains(t, states, "discarded")
		require.Eventually(t, func() bool { // River records its queues after it has started
			return strings.Contains(n.plainly("GET", "/river/api/queues", "", nil).body, `"name":"default"`)
		}, patience, 50*time.Millisecond)

		require.Contains(t, n.plainly("GET", "/debug/pprof/goroutine?debug=1", "", nil).body, "goroutine profile")
		require.Equal(t, 404, n.plainly("GET", "/debug/pprof/cmdline", "", nil).status, "flags may contain passwords")

		require.Equal(t, 403, n.plainly("GET", "/debug/pprof/goroutine", "", map[string]string{"Host": "rebound.test"}).status)
		require.Equal(t, 403, n.plainly("GET", "/river/api/states", "", map[string]string{"Host": "rebound.test"}).status)
		require.Equal(t, 403, n.plainly("POST", "/river/api/jobs/cancel", `{"ids": ["1"]}`, map[string]string{"Sec-Fetch-Site": "cross-site"}).status)
	})
}

// An admin listener that other machines can reach serves none of these pages: credentials would cross a network unencrypted, and
// anybody could cancel jobs.
func TestNoPagesBeyondLoopback(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).prepared()
	n := p.serve("--admin-listen", "0.0.0.0:0")
	first := p.firstRun()
	_, port, found := strings.Cut(strings.TrimPrefix(n.admin, "http://["), "]:")
	if !found {
		_, port, _ = strings.Cut(strings.TrimPrefix(n.admin, "http://"), ":")
	}
	n.admin = "http://127.0.0.1:" + port
	require.Equal(t, 200, n.plainly("GET", "/healthz", "", nil).status)
	require.Equal(t, 404, n.plainly("GET", "/graphiql", "", nil).status)
	require.Equal(t, 404, n.plainly("POST", "/graphql", `{"query": "{ viewer { id } }"}`, map[string]string{"X-Api-Key": first.LiveKey}).status)
	require.Equal(t, 404, n.plainly("GET", "/river/", "", nil).status)
	require.Equal(t, 404, n.plainly("GET", "/debug/pprof/", "", nil).status)
	require.Contains(t, n.err.String(), "GraphiQL is off")
	require.Contains(t, n.err.String(), "River's pages are off")
	line, _ := n.out.line("graphiql ")
	require.Empty(t, line)
}
