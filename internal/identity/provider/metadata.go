package provider

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"atrium/internal/principal"
)

// metadata is the discovery document, with what the library's type does not know.
type metadata struct {
	oidc.DiscoveryConfiguration
	IssParameter     bool     `json:"authorization_response_iss_parameter_supported"`
	PromptValues     []string `json:"prompt_values_supported"`
	ClaimsParameter  bool     `json:"claims_parameter_supported"` // false, said aloud: the library's type leaves it out
	RequestParameter bool     `json:"request_parameter_supported"`
}

// Discovery tells what the provider serves, and nothing that it does not.
func (s server) Discovery(context.Context, *op.Request[struct{}]) (*op.Response, error) {
	p := s.p
	withSecret := []oidc.AuthMethod{oidc.AuthMethodBasic, oidc.AuthMethodPost}
	resp := op.NewResponse(&metadata{
		DiscoveryConfiguration: oidc.DiscoveryConfiguration{
			Issuer:                 p.issuer,
			AuthorizationEndpoint:  p.issuer + pathAuthorize,
			TokenEndpoint:          p.issuer + pathToken,
			IntrospectionEndpoint:  p.issuer + pathIntrospect,
			RevocationEndpoint:     p.issuer + pathRevoke,
			UserinfoEndpoint:       p.issuer + pathUserInfo,
			EndSessionEndpoint:     p.issuer + pathEndSession,
			JwksURI:                p.issuer + pathKeys,
			ScopesSupported:        slices.Concat([]string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail, oidc.ScopeOfflineAccess}, principal.ScopeNames),
			ResponseTypesSupported: []string{string(oidc.ResponseTypeCode)},
			ResponseModesSupported: []string{string(oidc.ResponseModeQuery)},
			GrantTypesSupported:    []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken},
			SubjectTypesSupported:  []string{"public"},
			ClaimTypesSupported:    []string{"normal"},
			ClaimsSupported: []string{
				"iss", "sub", "aud", "azp", "exp", "iat", "jti", "auth_time", "nonce", "amr", "at_hash", "sid", "company", "name", "email", "email_verified",
			},
			IDTokenSigningAlgValuesSupported:          []string{"ES256"},
			TokenEndpointAuthMethodsSupported:         append([]oidc.AuthMethod{oidc.AuthMethodNone}, withSecret...),
			RevocationEndpointAuthMethodsSupported:    append([]oidc.AuthMethod{oidc.AuthMethodNone}, withSecret...),
			IntrospectionEndpointAuthMethodsSupported: withSecret,
			CodeChallengeMethodsSupported:             []oidc.CodeChallengeMethod{oidc.CodeChallengeMethodS256},
			BackChannelLogoutSupported:                true,
			ServiceDocumentation:                      p.base + "/docs",
			BackChannelLogoutSessionSupported:         true,
		},
		IssParameter: true, PromptValues: prompts,
	})
	keepFor(resp.Header, metaMaxAge)
	return resp, nil
}

// Keys shows the public halves of the keys that verify.
func (s server) Keys(ctx context.Context, _ *op.Request[struct{}]) (*op.Response, error) {
	set, err := s.p.keys.Public(ctx)
	if err != nil {
		return nil, s.p.failed(ctx, "show the keys", err)
	}
	resp := op.NewResponse(set)
	keepFor(resp.Header, keysMaxAge)
	return resp, nil
}

// keepFor lets caches keep an answer.
func keepFor(h http.Header, d time.Duration) {
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(d.Seconds())))
}
