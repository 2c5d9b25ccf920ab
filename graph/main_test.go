package graph_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/graph"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door builds the GraphQL API.
func door(p apitest.Parts) (http.Handler, error) {
	return graph.New(graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL}), nil
}

// each runs fn against a server on SQLite and another on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	t.Helper()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, apitest.Serve(t, w, door)) })
}

// vars are the variables of an operation.
type vars = map[string]any

// send runs an operation as a caller and returns the answer.
func send(t testing.TB, s *apitest.Server, as apitest.Caller, query string, v vars) *apitest.Answer {
	t.Helper()
	return s.Send(t, apitest.Scenario{As: as, Method: http.MethodPost, Path: "/graphql", Body: vars{"query": query, "variables": v}})
}

// ask is send for an operation that must succeed.
func ask(t testing.TB, s *apitest.Server, as apitest.Caller, query string, v vars) *apitest.Answer {
	t.Helper()
	a := send(t, s, as, query, v)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.False(t, a.Has("errors"), "%s\n%s", query, pretty(a.Body))
	return a
}

func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
