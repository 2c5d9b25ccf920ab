package gate

import (
	"context"
	"net/http"
)

// CrossOrigin lets pages of known origins call next and read its answers: these are web applications, which send a
// bearer token. It never sends Access-Control-Allow-Credentials and never allows X-Api-Key, so that browsers add no
// cookie and pages hold no API key. Other origins get no header at all: browsers hide the answer from their pages, and
// do not send calls that need a preflight. If known is nil, no origin is known.
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
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers",
			"ETag, Idempotency-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id, X-Total-Count")
		next.ServeHTTP(w, r)
	})
}
