package main_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// line is a line of the access log.
type line struct {
	Msg                           string
	RequestID                     string
	Principal, Company, Operation *string
	Status                        int
	DurationMs                    float64
	Bytes                         int
}

// accessLog returns the access log lines of a server, by request id.
func accessLog(t *testing.T, n *node) map[string]line {
	t.Helper()
	out := map[string]line{}
	for text := range strings.Lines(n.err.String()) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && l.Msg == "call" {
			require.NotContains(t, out, l.RequestID, "two lines for one call")
			out[l.RequestID] = l
		}
	}
	return out
}

// With a public certificate every answer carries Strict-Transport-Security. An access log of all calls names the caller and the
// path, and contains nothing that the caller sent.
func TestAccessLogAndStrictTransport(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	cert, key := filepath.Join(t.TempDir(), "tls.pem"), filepath.Join(t.TempDir(), "key.pem")
	writePair(t, cert, key, 1)
	n := p.serve("--tls-cert", cert, "--tls-key", key, "--access-log", "all", "--log-level", "error")
	first := p.firstRun()
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the certificate is self-signed
	t.Cleanup(tr.CloseIdleConnections)
	c := &http.Client{Transport: tr, Timeout: patience}

	owner := p.object("token", "create", "--company", first.Company.ID, "--user", first.Owner.Email, "--json")["accessToken"].(string)
	calls := []struct {
		status             int
		method, path, body string
		secret, operation  string
		known              bool
	}{
		{200, "GET", "/v1/requests?q=hunter2", "", first.LiveKey, "request.list", true},
		{400, "GET", "/v1/requests?hunter2=1", "", first.LiveKey, "request.list", true},
		{404, "GET", "/v1/hunter2", "", first.LiveKey, "", true},
		{400, "POST", "/v1/services", `{"name": 1, "hunter2": "hunter2"}`, first.LiveKey, "service.create", true},
		{401, "GET", "/v1/requests", "", "key_live_hunter2", "", false},
		{200, "POST", "/graphql", `{"query": "query hunter2 { hunter2: viewer { id } ...f } fragment f on Query { services { totalCount } }"}`, owner, "query viewer services", true},
		{400, "POST", "/graphql", `{"query": "{ hunter2 }"}`, owner, "/graphql", true},
		{200, "GET", "/docs", "", "", "", false},
		{200, "GET", "/.well-known/openid-configuration", "", "", "/.well-known/openid-configuration", false},
		{404, "GET", "/hunter2", "", "", "", false},
		{404, "GET", "/v1/requests//hunter2", "", first.LiveKey, "", true},
	}
	ids := make([]string, len(calls))
	sizes := make([]int, len(calls))
	for i, call := range calls {
		a := n.call(c, call.status, call.method, call.path, call.secret, call.body)
		require.Equal(t, "max-age=31536000", a.header.Get("Strict-Transport-Security"), call.path)
		ids[i], sizes[i] = a.header.Get("X-Request-Id"), len(a.body)
	}
	require.Eventually(t, func() bool { return len(accessLog(t, n)) >= len(calls) }, patience, 50*time.Millisecond, "a line is written after its answer")
	require.NotContains(t, n.err.String(), "hunter2")
	lines := accessLog(t, n)
	for i, call := range calls {
		l := lines[ids[i]]
		require.Equal(t, call.status, l.Status, call.path)
		require.Equal(t, sizes[i], l.Bytes, call.path)
		require.Positive(t, l.DurationMs, call.path)
		if call.operation == "" {
			require.Nil(t, l.Operation, call.path)
		} else {
			require.Equal(t, call.operation, *l.Operation, call.path)
		}
		if !call.known {
			require.Nil(t, l.Principal, call.path)
			require.Nil(t, l.Company, call.path)
			continue
		}
		require.Equal(t, first.Company.ID, *l.Company, call.path)
		require.True(t, strings.HasPrefix(*l.Principal, "usr_"), call.path)
	}
}

// By default the access log has no lines for successful calls and ordinary refusals. With a certificate of the data folder's CA
// there is no Strict-Transport-Security.
func TestAccessLogByItself(t *testing.T) {
	t.Parallel()
	p := onSQLite(t)
	n := p.serve()
	c := p.client()
	for path, status := range map[string]int{"/docs": 200, "/v1/requests": 401, "/nothing": 404} {
		require.Empty(t, n.call(c, status, "GET", path, "", "").header.Get("Strict-Transport-Security"))
	}
	require.Zero(t, n.stop())
	require.Empty(t, accessLog(t, n))
}
