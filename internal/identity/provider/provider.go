package provider

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"atrium/ent"
	"atrium/internal/clock"
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/jobs"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// How long things are good for.
const (
	requestLife = time.Hour        // from the redirect to the provider until the person has answered
	codeLife    = time.Minute      // of an authorization code
	replayLife  = 24 * time.Hour   // how long a used code is remembered, so that its replay revokes what it gave
	accessLife  = 5 * time.Minute  // of an access token
	idLife      = time.Hour        // of an ID token
	refreshLife = 720 * time.Hour  // of a refresh token: a grant ends when it is not used for 30 days
	logoutLife  = 2 * time.Minute  // of a logout token
	keysMaxAge  = 5 * time.Minute  // how long clients may keep the JWKS
	metaMaxAge  = 15 * time.Minute // how long clients may keep the discovery document
)

// Options are what a Provider works with.
type Options struct {
	Store   *store.Store
	Keys    *identity.Keys
	Tokens  *identity.Tokens
	Issuer  string      // {auth_url}, without a slash at its end
	BaseURL string      // {base_url}: the web application's redirect URI lies there
	Queue   *jobs.Queue // tells clients of logouts; see Logouts
	Log     *slog.Logger

	// SignedIn returns who is signed in at the hosted pages in the browser that sent a request; nil for nobody.
	SignedIn func(context.Context, *http.Request) (*ent.SignIn, error)

	// Origins tells whose pages may read what programs are answered.
	Origins func(ctx context.Context, origin string) bool

	// Render writes a page; nil writes a plain one. Package signin's layout gives all pages the same face.
	Render func(http.ResponseWriter, *http.Request, Page)
}

// Provider is the OpenID provider. Safe for concurrent use.
type Provider struct {
	store  *store.Store
	keys   *identity.Keys
	tokens *identity.Tokens
	issuer string
	prefix string // the issuer's path
	base   string
	queue  *jobs.Queue
	log    *slog.Logger

	signedIn func(context.Context, *http.Request) (*ent.SignIn, error)
	render   func(http.ResponseWriter, *http.Request, Page)
	origins  func(context.Context, string) bool
}

// ErrIssuer is returned by New for an issuer that is no plain https address.
var ErrIssuer = errors.New("provider: the issuer must be an https address without query, fragment or a slash at its end")

// New returns a provider. Nothing is read or written before the first request.
func New(o Options) (*Provider, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(o.Issuer, "/") {
		return nil, ErrIssuer
	}
	p := &Provider{
		store: o.Store, keys: o.Keys, tokens: o.Tokens, issuer: o.Issuer, prefix: u.Path, base: o.BaseURL, queue: o.Queue,
		log: o.Log, signedIn: o.SignedIn, render: o.Render, origins: o.Origins,
	}
	if p.render == nil {
		p.render = plainPage
	}
	return p, nil
}

// Handler serves the provider's paths, which begin with the issuer's own:
//
//	/.well-known/openid-configuration
//	/oauth2/authorize /oauth2/token /oauth2/introspect /oauth2/revoke /oauth2/userinfo /oauth2/end-session /oauth2/keys
func (p *Provider) Handler() http.Handler {
	programs := http.StripPrefix(p.prefix, p.programs())
	registered := func(h http.Handler) http.HandlerFunc { return gate.CrossOrigin(p.origins, h).ServeHTTP }
	mux := http.NewServeMux()
	for path, h := range map[string]http.HandlerFunc{
		pathMetadata:   anyOrigin(public(programs)),
		pathKeys:       anyOrigin(public(programs)),
		pathAuthorize:  p.authorize,
		pathEndSession: p.endSession,
		pathToken:      registered(posted(programs, false)),
		pathRevoke:     registered(posted(programs, false)),
		pathIntrospect: posted(programs, true),
		pathUserInfo:   registered(userInfoOnly(programs)),
	} {
		mux.HandleFunc(p.prefix+path, h)
	}
	return remembering(mux)
}

// now is the product's time.
func (p *Provider) now() time.Time { return p.store.Clock().Now() }

// workerName is what audit entries call the provider by.
const workerName = "identity provider"

// within returns a context in which the provider works in one company: the guards of tenancy bind what it does.
func (p *Provider) within(ctx context.Context, companyID string) context.Context {
	ctx = clock.With(ctx, p.store.Clock())
	return principal.With(ctx, principal.Worker(companyID, workerName))
}

// global returns a context in which rows that belong to no company can be reached.
func (p *Provider) global(ctx context.Context) context.Context {
	return principal.System(clock.With(ctx, p.store.Clock()), "authorization requests and sign-ins belong to no company; a client names its own")
}
