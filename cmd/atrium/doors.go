package main

import (
	"net/http"
	"net/url"

	"atrium/internal/gate"
	"atrium/internal/identity/account"
	"atrium/internal/identity/signin"
)

// doors leads every call to what answers it, by path, and by host where the provider has one of its own. What nobody
// claims is the API's, which knows how to say so.
func (s *server) doors(api, graphQL http.Handler, pages *hosted) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/graphql", graphQL)
	at := s.authHost()
	claim := func(h http.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(at+path, routed(path, h))
			mux.Handle(at+path+"/", routed(path, h))
		}
	}
	mux.Handle("/login", routed("/login", pages.session))
	mux.Handle("/login/", routed("/login", pages.session))
	mux.Handle("/logout", routed("/logout", pages.session))
	if pages.provider == nil {
		mux.Handle("/signin/static/", routed("/signin", signin.Static())) // the dress of what session shows
		return mux
	}
	claim(pages.provider, "/oauth2", "/.well-known/openid-configuration")
	claim(pages.signIn, "/signin", "/account/mfa")
	claim(pages.account, account.Paths...)
	return mux
}

// authHost is the provider's host where it is another than the API's; empty where they share one.
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

// routed names the pages' route for metrics: what is below a path counts with it.
func routed(path string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gate.SetRoute(w, path)
		h.ServeHTTP(w, r)
	})
}
