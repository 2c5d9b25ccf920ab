package websession

import (
	"net/http"

	"atrium/internal/platform/apperr"
)

// CheckOrigin returns forbidden for a request that a page of another origin than baseURL made a browser send. It reads
// Sec-Fetch-Site and Origin, which browsers set and pages cannot change. A request with neither header does not come from a
// current browser, and is accepted. Use it for requests that change something and are authenticated by a cookie.
func CheckOrigin(r *http.Request, baseURL string) error {
	refusal := apperr.New(apperr.Forbidden, "The request comes from another site.")
	refusal.Reason = "cross_site"
	switch sites := r.Header["Sec-Fetch-Site"]; {
	case len(sites) > 1, len(sites) == 1 && sites[0] != "same-origin" && sites[0] != "none":
		return refusal
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) == 0:
		return nil
	case len(origins) > 1, origins[0] != baseURL:
		return refusal
	}
	return nil
}
