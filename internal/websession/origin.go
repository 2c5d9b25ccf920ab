package websession

import (
	"net/http"
	"net/url"
	"strings"

	"atrium/internal/apperr"
)

// CheckOrigin returns forbidden for a request that a page of another origin than baseURL's made a browser send. It goes
// by what browsers add to requests and pages cannot change, Sec-Fetch-Site and Origin; a request with neither comes from
// no browser of these days. It is for requests that change something on the strength of a cookie.
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

// sameOrigin reports whether two addresses have scheme, host and port in common.
func sameOrigin(a, b string) bool {
	left, err := url.Parse(a)
	if err != nil || left.Host == "" {
		return false // "null" among others
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
