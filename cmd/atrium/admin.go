package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"slices"
	"time"

	"atrium/graph"
	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
)

// adminHandler serves operators: health, readiness, metrics, profiles and, on a development server, the clock. A node with an API adds
// GraphiQL, a node that works jobs adds River's pages.
func (s *server) adminHandler() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, "status", "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.told:
			writeJSON(w, http.StatusServiceUnavailable, "status", "stopping")
			return
		default:
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := s.store.Ping(ctx); err != nil {
			s.log.WarnContext(ctx, "not ready", "error", err)
			writeJSON(w, http.StatusServiceUnavailable, "status", "database")
			return
		}
		// A wrong clock on the database would make all nodes unready at once. So the answer only reports the difference.
		if err := sameTime(ctx, s.store); err != nil {
			writeJSON(w, http.StatusOK, "status", "ready", "clock", err.Error())
			return
		}
		writeJSON(w, http.StatusOK, "status", "ready")
	})
	mux.Handle("GET /metrics", s.local(s.metrics.handler()))
	if s.adminAt.Addr().IsLoopback() { // a profile takes processor time, and so whoever takes many slows the node
		mux.Handle("GET /debug/pprof/", s.local(http.HandlerFunc(pprof.Index)))
		mux.Handle("GET /debug/pprof/profile", s.local(http.HandlerFunc(pprof.Profile)))
		mux.Handle("GET /debug/pprof/trace", s.local(http.HandlerFunc(pprof.Trace)))
	}
	if s.DevClock {
		mux.Handle("POST /dev/clock", s.local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			_ = errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})) // due jobs may take any time
			s.moveClock(w, r)
		})))
	}
	return mux
}

// clockEvery is how often watchClock compares the clocks.
const clockEvery = time.Minute

// watchClock logs when this machine's clock and PostgreSQL's begin to disagree, and when they agree again.
func (s *server) watchClock(ctx context.Context) error {
	tick := time.NewTicker(clockEvery)
	defer tick.Stop()
	differ := false
	for {
		skew, err := skewOf(ctx, s.store)
		switch {
		case err != nil: // readiness reports a database that is away
		case skew > mostSkew && !differ:
			s.log.WarnContext(ctx, "the clock does not agree with the database's", "differ", skew.String(), "may", mostSkew.String())
		case skew <= mostSkew && differ:
			s.log.InfoContext(ctx, "the clock agrees with the database's again")
		}
		if err == nil {
			differ = skew > mostSkew
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// local refuses browser pages of other origins on a loopback listener. Access to any other listener is controlled by the network.
func (s *server) local(next http.Handler) http.Handler {
	if !s.adminAt.Addr().IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := gate.Local(r); err != nil {
			writeJSON(w, http.StatusForbidden, "error", apperr.From(err).Message)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addGraphiQL serves GraphiQL to operators, with the GraphQL endpoint that it uses. The endpoint has the same limits and the same
// audit log as on the API's own listener, but gate.Loopback removes cookies. The listener does not authenticate by itself; this
// is safe because it grants nothing: the page is public and contains no data, and an operation without a key or token is answered
// with 401. It is on in production, too: anybody who can connect to loopback can also call the API. A listener that other
// machines can reach gets neither, since keys and tokens would cross a network unencrypted.
func (s *server) addGraphiQL(g *gate.Gate, graphQL http.Handler) {
	if !s.adminAt.Addr().IsLoopback() {
		s.log.Info("GraphiQL is off: the admin listener is not on loopback", "address", s.adminAt.String())
		return
	}
	s.admin.Handle("/graphql", traced(g.Loopback(s.adminAt, graphQL)))
	pages := g.Loopback(s.adminAt, graph.GraphiQL())
	s.admin.Handle(graph.GraphiQLPath, pages)
	s.admin.Handle(graph.GraphiQLPath+"/", pages)
	fmt.Printf("graphiql http://%s%s\n", s.adminAt, graph.GraphiQLPath)
}

// riverPath is the path of River's pages.
const riverPath = "/river"

// addRiverUI serves River's pages of the job queue to operators, on nodes that work jobs. They allow anybody to cancel jobs, so
// they are served only on loopback.
func (s *server) addRiverUI() error {
	if !s.adminAt.Addr().IsLoopback() {
		s.log.Info("River's pages are off: the admin listener is not on loopback", "address", s.adminAt.String())
		return nil
	}
	pages, err := s.workers.UI(riverPath, s.log)
	if err != nil {
		return err
	}
	s.admin.Handle(riverPath+"/", s.local(pages))
	fmt.Printf("jobs http://%s%s/\n", s.adminAt, riverPath)
	return nil
}

// writeJSON answers with a JSON object. fields alternates names and values.
func writeJSON(w http.ResponseWriter, status int, fields ...string) {
	body := map[string]string{}
	for pair := range slices.Chunk(fields, 2) {
		body[pair[0]] = pair[1]
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the caller has disconnected
}
