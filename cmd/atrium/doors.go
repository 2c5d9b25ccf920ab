package main

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"atrium/internal/agent/mcp"
	"atrium/internal/billing/document"
	"atrium/internal/billing/stripe"
	"atrium/internal/gate"
	"atrium/internal/gate/console"
	"atrium/internal/identity/account"
	"atrium/internal/identity/pages"
)

// signInHandlers holds the pages of signing in and the endpoints of the embedded provider. Without that provider only session is set.
type signInHandlers struct {
	session  http.Handler
	provider http.Handler
	signIn   http.Handler
	account  http.Handler
}

// doors routes every call to its handler, by path, and by host when the provider has its own. All other paths go to REST, which
// answers 404.
func (s *server) doors(g *gate.Gate, api, graphQL http.Handler, agents *mcp.Server, h *signInHandlers) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/graphql", graphQL)
	mux.Handle(mcp.Path, agents)
	for _, at := range []string{mcp.MetadataPath, mcp.MetadataPath + mcp.Path} {
		mux.Handle("GET "+at, routed(mcp.MetadataPath, agents.Metadata()))
	}
	if s.console != nil {
		mux.Handle("GET /{$}", routed(console.Path, s.console))
		mux.Handle(console.Path, routed(console.Path, s.console))
		mux.Handle(console.Path+"/", routed(console.Path, s.console))
	}
	mux.Handle(document.Path, document.Handler(document.Options{Engine: s.engine, Gate: g, Log: s.log, From: s.InvoiceFrom, Font: s.InvoiceFont}))
	if s.StripeWebhookSecret != "" {
		mux.Handle(stripe.Path, routed(stripe.Path, stripe.Handler(s.engine, s.StripeWebhookSecret, s.log)))
	}
	at := s.authHost()
	claim := func(handler http.Handler, paths ...string) {
		for _, p := range paths {
			mux.Handle(at+p, routed(p, handler))
			mux.Handle(at+p+"/", routed(p, handler))
		}
	}
	mux.Handle("/login", routed("/login", h.session))
	mux.Handle("/login/", routed("/login", h.session))
	mux.Handle("/logout", routed("/logout", h.session))
	if h.provider == nil {
		mux.Handle("/signin/static/", routed("/signin", pages.Static())) // the stylesheet of session's pages
		return rejectUncleanPaths(mux, api)
	}
	claim(h.provider, "/oauth2", "/.well-known/openid-configuration")
	claim(h.signIn, "/signin", "/account/mfa")
	claim(h.account, account.Paths...)
	return rejectUncleanPaths(mux, api)
}

// rejectUncleanPaths sends paths like /v1//requests to REST, which answers 404. The mux would redirect them, and a client that
// follows would repeat its call at another address: with an empty id, at the list.
func rejectUncleanPaths(mux, api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != "/" && path.Clean(p) != strings.TrimSuffix(p, "/") {
			api.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// authHost returns the provider's host if it differs from the API's; empty otherwise.
func (s *server) authHost() string {
	base, err := url.Parse(s.BaseURL)
	if err != nil {
		return ""
	}
	auth, err := url.Parse(s.AuthURL)
	if err != nil || auth.Host == base.Host {
		return ""
	}
	return auth.Hostname()
}

// routed sets the route under which the metrics count a handler and all paths below it.
func routed(route string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, route)
		h.ServeHTTP(w, r)
	})
}
