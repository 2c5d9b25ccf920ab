package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// adminHandler answers operators: health, readiness, metrics and, on a development server, the clock.
func (s *server) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "status", "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		if err := s.store.Ping(ctx); err != nil {
			s.log.WarnContext(ctx, "not ready", "error", err)
			say(w, http.StatusServiceUnavailable, "status", "database")
			return
		}
		say(w, http.StatusOK, "status", "ready")
	})
	mux.Handle("GET /metrics", s.metrics.handler())
	if s.DevClock {
		mux.HandleFunc("POST /dev/clock", s.moveClock)
	}
	return mux
}

// say answers with one JSON field.
func say(w http.ResponseWriter, status int, field, value string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{field: value}) // a caller who has gone cannot be told so
}
