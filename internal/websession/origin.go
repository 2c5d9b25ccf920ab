package websession

import (
	"net/http"
	"net/url"
	"strings"

	"atrium/internal/apperr"
)

// CheckOrigin returns forbidden for a request that a page of another origin than that of baseURL made a browser send. It reads
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
	case len(origins) > 1, !sameOrigin(origins[0], baseURL):
		return refusal
	}
	return nil
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	left, err := url.Parse(a)
	if err != nil || left.Host == "" {
		return false // for example "null"
	}
	right, err := url.Parse(b)
	return err == nil && strings.EqualFold(left.Scheme, right.Scheme) && strings.EqualFold(left.Hostname(), right.Hostname()) && port(left) == port(right)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" || !strings.EqualFold(u.Scheme, "https") {
		return p
	}
	return "443"
}
