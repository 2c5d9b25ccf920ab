package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// collector is an OTLP collector that keeps what it is sent.
type collector struct {
	mu   sync.Mutex
	sent bytes.Buffer
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.Copy(&c.sent, r.Body)
}

// Spans are named by the route, continue the caller's trace, and come from the service that the operator names.
func TestTraces(t *testing.T) {
	t.Parallel()
	c := &collector{}
	at := httptest.NewServer(c)
	defer at.Close()
	p := onSQLite(t)
	n := p.serve("OTEL_EXPORTER_OTLP_ENDPOINT="+at.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf", "OTEL_SERVICE_NAME=desk-of-berlin")
	first := p.firstRun()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.base+"/v1/requests/req_01k9ye4ryzf7stj6dqnm8x2v3b", nil)
	require.NoError(t, err)
	r.Header.Set("X-Api-Key", first.LiveKey)
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	res, err := p.client().Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 404, res.StatusCode)
	require.Zero(t, n.stop(), "%s", n.err) // sends what is left
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, part := range []string{
		"desk-of-berlin", "GET /v1/requests/{id}", "http.route",
		"\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c", "\xb7\xad\x6b\x71\x69\x20\x33\x31",
	} {
		require.Contains(t, c.sent.String(), part)
	}
}

// What the standard variables ask for is done, or refused.
func TestTracesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json", "OTEL_TRACES_EXPORTER=zipkin"} {
		refusesToServe(t, onSQLite(t), []string{"OTEL_", "alone"}, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", v)
	}
}

// A company that is not there would let nobody in: the server says so instead of starting.
func TestTheIssuersCompanyIsNotThere(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		refusesToServe(t, p, []string{"--oidc-company", "no live company"},
			"--oidc-issuer", "https://id.example", "--oidc-audience", "atrium", "--oidc-company", "nobodys")
		refusesToServe(t, p, []string{"--oidc-company", "--oidc-issuer"}, "--oidc-company", "nobodys")
	})
}
