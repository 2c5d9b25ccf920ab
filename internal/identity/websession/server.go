package websession

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"atrium/internal/identity"
	"atrium/internal/identity/issuer"
	"atrium/internal/identity/pages"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
)

// Options are the dependencies and settings of a Server. Exactly one of Embedded and Issuer is set.
type Options struct {
	Engine   *op.Engine
	BaseURL  string // {base_url}, without a trailing slash
	Embedded *Embedded
	Issuer   *issuer.Directory // an issuer that people sign in through (issuer.Options.SignsIn)
	Layout   *pages.Layout     // renders the pages
	Log      *slog.Logger
}

// Embedded is the identity provider in this process.
type Embedded struct {
	URL     string       // {auth_url}
	Handler http.Handler // its endpoints, at the paths below URL
	Tokens  *identity.Tokens
}

// Server serves the pages for signing in and out. Safe for concurrent use.
type Server struct {
	engine   *op.Engine
	base     string
	provider *issuer.Remote
	client   oauth2.Config // without endpoints, which come from the provider's metadata
	embedded *Embedded
	people   *issuer.Directory
	layout   *pages.Layout
	log      *slog.Logger
}

// New returns a server, without calling the provider. Returns an error for invalid options.
func New(o Options) (*Server, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.HasSuffix(o.BaseURL, "/") {
		return nil, errors.New("the base URL must be an https address without a slash at its end")
	}
	if (o.Embedded == nil) == (o.Issuer == nil) {
		return nil, errors.New("people sign in through one provider, the embedded one or another")
	}
	s := &Server{engine: o.Engine, base: o.BaseURL, embedded: o.Embedded, people: o.Issuer, layout: o.Layout, log: o.Log}
	s.client.RedirectURL = o.BaseURL + pathCallback
	if o.Embedded != nil {
		transport, err := inProcess(o.Embedded.URL, o.Embedded.Handler)
		if err != nil {
			return nil, err
		}
		s.provider = issuer.NewRemote(o.Embedded.URL, []string{"ES256"}, transport, o.Engine.Store.Clock().Now)
		s.client.ClientID, s.client.Scopes = identity.WebClient, []string{"openid"}
		return s, nil
	}
	with := o.Issuer.Issuer().Options()
	if !with.SignsIn() {
		return nil, fmt.Errorf("a client of %s is needed for people to sign in through it", with.Issuer)
	}
	s.provider = o.Issuer.Issuer().Remote
	s.client.ClientID, s.client.ClientSecret, s.client.Scopes = with.ClientID, with.ClientSecret, with.Scopes
	return s, nil
}

// The paths below the base URL.
const (
	pathLogin    = "/login"
	pathCallback = "/login/callback"
	pathLogout   = "/logout"
)

// Handler serves /login, /login/callback and /logout.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathLogin, s.login)
	mux.HandleFunc("GET "+pathCallback, s.callback)
	mux.HandleFunc("GET "+pathLogout, s.askLogout)
	mux.HandleFunc("POST "+pathLogout, s.logout)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "same-origin") // the URLs of these pages contain codes
		mux.ServeHTTP(w, r)
	})
}

// redirect answers with 303, so that the browser continues by GET.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// errorPage shows an error page with a link to a new attempt, and logs the cause.
func (s *Server) errorPage(w http.ResponseWriter, r *http.Request, status int, title, text locale.Text, cause error) {
	level := slog.LevelInfo
	switch {
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status == http.StatusBadRequest:
		level = slog.LevelDebug // anybody can cause it
	}
	s.log.Log(r.Context(), level, "a sign-in failed", "error", cause, "path", r.URL.Path, "requestId", w.Header().Get("X-Request-Id"))
	s.layout.Message(w, r, status, title, text, pages.Link{Text: locale.Say("Sign in again"), To: pathLogin})
}

// unavailable shows the error page for a provider that does not answer.
func (s *Server) unavailable(w http.ResponseWriter, r *http.Request, cause error) {
	w.Header().Set("Retry-After", "10")
	s.errorPage(w, r, http.StatusServiceUnavailable, locale.Say("Signing in does not work at the moment"),
		locale.Say("The identity provider does not answer. Try again in a moment."), cause)
}
