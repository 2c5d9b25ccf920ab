package doors

import (
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"atrium/graph"
	"atrium/internal/desk/attachment"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
	"atrium/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// both serves REST and GraphQL on one listener.
func both(p apitest.Parts) (http.Handler, error) { return bothWith(p, nil) }

// bothWith is both with the bytes of files.
func bothWith(p apitest.Parts, files *attachment.Depot) (http.Handler, error) {
	v1, err := rest.New(rest.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL, Files: files})
	if err != nil {
		return nil, err
	}
	gql := graph.New(graph.Options{Engine: p.Engine, Gate: p.Gate, Log: p.Log, BaseURL: p.BaseURL})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/graphql") {
			gql.ServeHTTP(w, r)
			return
		}
		v1.ServeHTTP(w, r)
	}), nil
}

// each runs fn against a server on SQLite and another on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, s *apitest.Server)) {
	t.Helper()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, apitest.Serve(t, w, both)) })
}
