package provider

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
	"golang.org/x/text/language"

	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
)

// metadata is the discovery document, with fields that the library's type lacks.
type metadata struct {
	oidc.DiscoveryConfiguration
	IssParameter     bool     `json:"authorization_response_iss_parameter_supported"`
	PromptValues     []string `json:"prompt_values_supported"`
	ClaimsParameter  bool     `json:"claims_parameter_supported"` // always false, stated explicitly: the library's type omits it
	RequestParameter bool     `json:"request_parameter_supported"`
}

// Discovery returns the discovery document. It lists only what the provider serves.
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
			UILocalesSupported:                        supported(),
			ServiceDocumentation:                      p.base + "/docs",
			BackChannelLogoutSessionSupported:         true,
		},
		IssParameter: true, PromptValues: prompts,
	})
	keepFor(resp.Header, metaMaxAge)
	return resp, nil
}

// supported returns the languages of the pages.
func supported() oidc.Locales {
	var out oidc.Locales
	for _, name := range locale.Languages {
		out = append(out, language.MustParse(name))
	}
	return out
}

// Keys returns the public keys that verify tokens (JWKS).
func (s server) Keys(ctx context.Context, _ *op.Request[struct{}]) (*op.Response, error) {
	set, err := s.p.keys.Public(ctx)
	if err != nil {
		return nil, s.p.serverError(ctx, "show the keys", err)
	}
	resp := op.NewResponse(set)
	keepFor(resp.Header, keysMaxAge)
	return resp, nil
}

// keepFor lets caches store an answer for a time.
func keepFor(h http.Header, d time.Duration) {
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(d.Seconds())))
}
