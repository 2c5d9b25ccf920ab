package gate

import (
	"context"
	"net/http"
)

// CrossOrigin lets pages of the origins that known tells of call next and read what it answers: web applications, which
// carry a bearer token. Access-Control-Allow-Credentials is never sent and X-Api-Key never allowed, so that browsers
// neither add a cookie nor let a page keep a key. Other origins get no header at all; a browser hides the answer from
// their pages, and does not send what needs a preflight. Without known all origins are others.
func CrossOrigin(known func(ctx context.Context, origin string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin == "" || known == nil || !known(r.Context(), origin) {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers",
			"ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id")
		next.ServeHTTP(w, r)
	})
}
