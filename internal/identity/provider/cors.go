package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"atrium/ent/oauthclient"
)

// anyOrigin lets pages of every origin read an answer that holds nothing secret. Credentials are never allowed.
func anyOrigin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if preflight(w, r, "GET, HEAD") {
			return
		}
		next(w, r)
	}
}

// registeredOrigins lets pages read an answer whose origin is that of a registered redirect URI: applications that run in
// the browser. Credentials, which is to say cookies, are never allowed, and nothing behind this looks at one.
func (p *Provider) registeredOrigins(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin != "" && p.origins.has(r.Context(), p, origin) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate")
		}
		if preflight(w, r, "GET, HEAD, POST") {
			return
		}
		next(w, r)
	}
}

// preflight answers a browser's question before a request, if r is one.
func preflight(w http.ResponseWriter, r *http.Request, methods string) bool {
	if r.Method != http.MethodOptions {
		return false
	}
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
		h.Set("Access-Control-Max-Age", "600")
	}
	w.Header().Set("Allow", methods+", OPTIONS")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// reloadAfter is how long origins are not read again: anonymous callers that ask cost one query in that time, not one each.
const reloadAfter = time.Second

// origins are those of all clients' redirect URIs. A client that was deleted may be found here a little longer: its
// origin says who may read an answer, not who gets one.
type origins struct {
	mu      sync.Mutex
	known   map[string]struct{}
	version uint64
	read    time.Time // by the machine's clock; zero for never
}

// has tells whether an origin belongs to a client. One that is not known is looked for again when clients have changed.
func (o *origins) has(ctx context.Context, p *Provider, origin string) bool {
	origin = portless(origin)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.known[origin]; ok {
		return true
	}
	version, fresh := p.store.Authority()
	if !o.read.IsZero() && (fresh && version == o.version || time.Since(o.read) < reloadAfter) {
		return false
	}
	known, err := p.readOrigins(ctx)
	if err != nil {
		p.log.WarnContext(ctx, "the origins of the clients were not read", "error", err)
		return false
	}
	o.known, o.version, o.read = known, version, time.Now()
	_, ok := known[origin]
	return ok
}

// readOrigins returns the origins of all clients' redirect URIs.
func (p *Provider) readOrigins(ctx context.Context) (map[string]struct{}, error) {
	rows, err := p.store.Reader().OAuthClient.Query().Select(oauthclient.FieldRedirectUris).All(p.global(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the clients: %w", err)
	}
	known := map[string]struct{}{portless(originOf(p.base)): {}}
	for _, row := range rows {
		for _, uri := range row.RedirectUris {
			known[portless(originOf(uri))] = struct{}{}
		}
	}
	delete(known, "")
	return known, nil
}

// portless takes the port off an origin on a loopback address, where any one matches.
func portless(origin string) string {
	if host, _, ok := loopback(origin); ok {
		return host
	}
	if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Path != "" || strings.ContainsAny(origin, "?#@") {
		return ""
	}
	return origin
}
