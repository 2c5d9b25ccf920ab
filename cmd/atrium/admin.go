package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"atrium/graph"
	"atrium/internal/gate"
)

// adminHandler answers operators: health, readiness, metrics and, on a development server, the clock. A node with an API
// adds GraphiQL, one that works jobs River's pages.
func (s *server) adminHandler() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "status", "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.told:
			say(w, http.StatusServiceUnavailable, "status", "stopping")
			return
		default:
		}
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := s.store.Ping(ctx); err != nil {
			s.log.WarnContext(ctx, "not ready", "error", err)
			say(w, http.StatusServiceUnavailable, "status", "database")
			return
		}
		// All nodes would be taken out at once for a clock of the database's that is wrong: it is said, and calls are taken.
		if err := sameTime(ctx, s.store); err != nil {
			s.log.WarnContext(ctx, "the clock does not agree with the database's", "error", err)
			say(w, http.StatusOK, "status", "ready", "clock", err.Error())
			return
		}
		say(w, http.StatusOK, "status", "ready")
	})
	mux.Handle("GET /metrics", s.local(s.metrics.handler()))
	if s.DevClock {
		mux.Handle("POST /dev/clock", s.local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			_ = errors.Join(rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{})) // due jobs take the time that they take
			s.moveClock(w, r)
		})))
	}
	return mux
}

// local keeps other people's pages out on a loopback listener. A listener that other machines reach is the network's to guard.
func (s *server) local(next http.Handler) http.Handler {
	if !s.adminAt.Addr().IsLoopback() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := gate.Local(r); err != nil {
			say(w, http.StatusForbidden, "error", err.Message)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// addGraphiQL opens GraphiQL to operators, and the GraphQL door for it: the same door with the same limits and the same
// audit log as on the API's own listener, but for cookies, which gate.Loopback takes off. Neither asks who is there, so it
// is safe because of what it does not give: the page is public and holds nothing, and an operation without a key or token
// is answered with 401. It is on in production, too: who can connect to loopback could as well call the API, which listens
// for everybody. A listener that other machines can reach gets neither, since keys and tokens would cross a network in
// the clear.
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

// riverPath is where River's pages are.
const riverPath = "/river"

// addRiverUI opens River's pages of the job queue to operators, on nodes that work jobs. Who can open them can cancel jobs, so they
// are for callers on this machine alone: a listener that others reach gets none.
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

// say answers with JSON fields: names and values in turn.
func say(w http.ResponseWriter, status int, fields ...string) {
	body := map[string]string{}
	for pair := range slices.Chunk(fields, 2) {
		body[pair[0]] = pair[1]
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller who has gone cannot be told so
}
