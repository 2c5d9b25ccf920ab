package rest

import (
	"net/http"
	"slices"
	"strings"
)

// ServeHTTP lets calls of /v1 through the gate, and answers what is open.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if guarded(r.URL.Path) {
		s.guarded.ServeHTTP(w, r)
		return
	}
	s.router.ServeHTTP(w, r)
}

// guarded tells whether the path takes a credential.
func guarded(path string) bool {
	return (path == "/v1" || strings.HasPrefix(path, "/v1/")) && !slices.Contains(openPaths, path)
}
