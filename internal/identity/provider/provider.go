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
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Lifetimes.
const (
	requestLife = time.Hour        // from the redirect to the provider until the person has answered
	codeLife    = time.Minute      // of an authorization code
	replayLife  = 24 * time.Hour   // how long a used code is stored, so that using it again revokes its grant
	accessLife  = 5 * time.Minute  // of an access token
	idLife      = time.Hour        // of an ID token
	refreshLife = 720 * time.Hour  // of a refresh token: a grant that is not used for 30 days ends
	logoutLife  = 2 * time.Minute  // of a logout token
	keysMaxAge  = 5 * time.Minute  // how long clients may cache the JWKS
	metaMaxAge  = 15 * time.Minute // how long clients may cache the discovery document
)

// Options are the dependencies and settings of a Provider.
type Options struct {
	Store   *store.Store
	Keys    *identity.Keys
	Tokens  *identity.Tokens
	Issuer  string      // {auth_url}, without a trailing slash
	BaseURL string      // {base_url}, below which the redirect URI of the web application lies
	Queue   *jobs.Queue // delivers logout notices to clients; see Logouts
	Log     *slog.Logger

	// SignedIn returns the sign-in at the hosted pages of the browser that sent a request; nil for none.
	SignedIn func(context.Context, *http.Request) (*ent.SignIn, error)

	// Origins reports whether pages of an origin may read the answers of the endpoints for programs (CORS).
	Origins func(ctx context.Context, origin string) bool

	// Render writes a page; nil writes it without a stylesheet. The layout of package pages gives all pages the same look.
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

// New returns a provider. It neither reads nor writes anything before the first request.
func New(o Options) (*Provider, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(o.Issuer, "/") {
		return nil, errors.New("provider: the issuer must be an https address without query, fragment or a slash at its end")
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

// Handler serves the provider's endpoints, below the path of the issuer:
//
//	/.well-known/openid-configuration
//	/oauth2/authorize /oauth2/token /oauth2/introspect /oauth2/revoke /oauth2/userinfo /oauth2/end-session /oauth2/keys
func (p *Provider) Handler() http.Handler {
	programs := http.StripPrefix(p.prefix, p.apiEndpoints())
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
	return withOrigin(mux)
}

// now returns the time of the product's clock.
func (p *Provider) now() time.Time { return p.store.Clock().Now() }

// workerName is the provider's name in audit entries.
const workerName = "identity provider"

// within returns a context that limits the provider to one company.
func (p *Provider) within(ctx context.Context, companyID string) context.Context {
	ctx = clock.With(ctx, p.store.Clock())
	return principal.With(ctx, principal.Worker(companyID, workerName))
}

// global returns a context that reaches rows that belong to no company.
func (p *Provider) global(ctx context.Context) context.Context {
	return principal.System(clock.With(ctx, p.store.Clock()), "authorization requests and sign-ins belong to no company; a client names its own")
}
