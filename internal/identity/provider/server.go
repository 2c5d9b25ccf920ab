package provider

import (
	"context"
	"net/http"
	"strconv"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"atrium/internal/gate"
	"atrium/internal/platform/store"
)

// server implements the endpoints that programs call, on requests that the protocol library has read. The library would answer
// the endpoints for people (authorize, end-session) without iss and without a page, so the provider has its own handlers for
// them.
type server struct {
	op.UnimplementedServer
	p *Provider
}

var _ op.Server = server{}

// The paths of the endpoints, below the issuer.
const (
	pathMetadata   = oidc.DiscoveryEndpoint
	pathAuthorize  = "/oauth2/authorize"
	pathToken      = "/oauth2/token"
	pathIntrospect = "/oauth2/introspect"
	pathRevoke     = "/oauth2/revoke"
	pathUserInfo   = "/oauth2/userinfo"
	pathEndSession = "/oauth2/end-session"
	pathKeys       = "/oauth2/keys"
)

// apiEndpoints returns the endpoints that programs call. The library's CORS is off, because it allows any origin.
func (p *Provider) apiEndpoints() http.Handler {
	h := op.RegisterServer(server{p: p}, op.Endpoints{
		Token: op.NewEndpoint(pathToken), Introspection: op.NewEndpoint(pathIntrospect), Revocation: op.NewEndpoint(pathRevoke),
		Userinfo: op.NewEndpoint(pathUserInfo), JwksURI: op.NewEndpoint(pathKeys),
	}, op.WithServerCORSOptions(nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(retryable{w}, r) })
}

// retryAfter is the Retry-After header while the database is unreachable, in seconds.
var retryAfter = strconv.Itoa(gate.AwayRetryAfter)

// retryable adds Retry-After to every answer of 503: the library's errors carry no headers.
type retryable struct{ http.ResponseWriter }

func (w retryable) WriteHeader(status int) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w retryable) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// serverError returns the error that a program gets when a request failed on the server's side, and logs the cause.
func (p *Provider) serverError(ctx context.Context, doing string, err error) error {
	p.log.ErrorContext(ctx, "a request to the identity provider failed", "doing", doing, "error", err)
	if store.IsUnavailable(err) {
		return op.NewStatusError(&oidc.Error{ErrorType: "temporarily_unavailable", Description: gate.Away}, http.StatusServiceUnavailable)
	}
	return op.NewStatusError(oidc.ErrServerError().WithDescription("Something went wrong on our side."), http.StatusInternalServerError)
}

// unauthenticated returns the error for a client that failed to authenticate.
func unauthenticated(description string) error {
	return op.NewStatusError(oidc.ErrInvalidClient().WithDescription("%s", description), http.StatusUnauthorized)
}

func badGrant(description string) error {
	return oidc.ErrInvalidGrant().WithDescription("%s", description)
}

// VerifyClient returns the client that calls. Confidential clients authenticate with their secret, in the header or in the
// form. Public clients have no secret and must send none.
func (s server) VerifyClient(ctx context.Context, r *op.Request[op.ClientCredentials]) (op.Client, error) {
	if r.Data.ClientAssertion != "" || r.Data.ClientAssertionType != "" {
		return nil, unauthenticated("client assertions are not supported")
	}
	if named := r.Form.Get("client_id"); named != "" && named != r.Data.ClientID {
		return nil, oidc.ErrInvalidRequest().WithDescription("client_id is not the one that authenticates")
	}
	c, err := s.p.client(ctx, r.Data.ClientID)
	switch {
	case err != nil:
		return nil, s.p.serverError(ctx, "authenticate a client", err)
	case c == nil:
		return nil, unauthenticated("the client is not known, or its secret is wrong")
	case c.confidential && !c.proves(r.Data.ClientSecret), !c.confidential && r.Data.ClientSecret != "":
		return nil, unauthenticated("the client is not known, or its secret is wrong")
	}
	return c, nil
}

// CodeExchange exchanges an authorization code for tokens.
func (s server) CodeExchange(ctx context.Context, r *op.ClientRequest[oidc.AccessTokenRequest]) (*op.Response, error) {
	c, err := asClient(r.Client)
	if err != nil {
		return nil, err
	}
	out, err := s.p.redeem(ctx, c, r.Data)
	if err != nil {
		return nil, err
	}
	return op.NewResponse(out), nil
}

// RefreshToken exchanges a refresh token for new tokens.
func (s server) RefreshToken(ctx context.Context, r *op.ClientRequest[oidc.RefreshTokenRequest]) (*op.Response, error) {
	c, err := asClient(r.Client)
	if err != nil {
		return nil, err
	}
	out, err := s.p.refresh(ctx, c, r.Data)
	if err != nil {
		return nil, err
	}
	return op.NewResponse(out), nil
}

// asClient returns the client as the type that VerifyClient returned.
func asClient(c op.Client) (*client, error) {
	own, ok := c.(*client)
	if !ok {
		return nil, unauthenticated("the client is not known, or its secret is wrong")
	}
	return own, nil
}
