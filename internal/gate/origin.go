package gate

import (
	"net/http"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// SameOrigin prevents cross-site request forgery: it returns forbidden for a call that a page of another origin may have made. A call with a session cookie needs the header X-Requested-With, which only a
// script of the product's own origin can set, and must not name another origin.
func SameOrigin(r *http.Request, baseURL string) error {
	p, ok := principal.From(r.Context())
	if !ok || p.Method != principal.MethodSession {
		return nil
	}
	if len(r.Header.Values("X-Requested-With")) == 0 {
		return apperr.New(apperr.Forbidden, "Send the header X-Requested-With.")
	}
	for _, origin := range r.Header.Values("Origin") {
		if origin != baseURL {
			return apperr.New(apperr.Forbidden, "Calls from other origins are refused.")
		}
	}
	return nil
}
