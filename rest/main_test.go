package rest_test

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// door builds the REST API.
func door(p apitest.Parts) (http.Handler, error) {
	return rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, AuthURL: p.BaseURL})
}

// each runs fn against a server on SQLite and another on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	t.Helper()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, apitest.Serve(t, w, door)) })
}
