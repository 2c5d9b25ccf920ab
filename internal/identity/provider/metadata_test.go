package provider_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// The discovery document lists what is served and nothing else.
func TestDiscoveryIsTruthful(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		r := s.get(s.srv.Client(), s.issuer+"/.well-known/openid-configuration")
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.Header.Get("Content-Type"), "application/json")
		require.Contains(t, r.Header.Get("Cache-Control"), "max-age=")
		m := r.json(t)
		for name, want := range map[string]any{
			"issuer":                                         s.issuer,
			"authorization_endpoint":                         s.issuer + "/oauth2/authorize",
			"token_endpoint":                                 s.issuer + "/oauth2/token",
			"introspection_endpoint":                         s.issuer + "/oauth2/introspect",
			"revocation_endpoint":                            s.issuer + "/oauth2/revoke",
			"userinfo_endpoint":                              s.issuer + "/oauth2/userinfo",
			"end_session_endpoint":                           s.issuer + "/oauth2/end-session",
			"jwks_uri":                                       s.issuer + "/oauth2/keys",
			"response_types_supported":                       []any{"code"},
			"response_modes_supported":                       []any{"query"},
			"grant_types_supported":                          []any{"authorization_code", "refresh_token"},
			"subject_types_supported":                        []any{"public"},
			"id_token_signing_alg_values_supported":          []any{"ES256"},
			"code_challenge_methods_supported":               []any{"S256"},
			"token_endpoint_auth_methods_supported":          []any{"none", "client_secret_basic", "client_secret_post"},
			"revocation_endpoint_auth_methods_supported":     []any{"none", "client_secret_basic", "client_secret_post"},
			"introspection_endpoint_auth_methods_supported":  []any{"client_secret_basic", "client_secret_post"},
			"authorization_response_iss_parameter_supported": true,
			"backchannel_logout_supported":                   true,
			"backchannel_logout_session_supported":           true,
			"request_parameter_supported":                    false,
			"request_uri_parameter_supported":                false,
			"claims_parameter_supported":                     false,
			"ui_locales_supported":                           []any{"en", "de"},
		} {
			require.Equal(t, want, m[name], name)
			delete(m, name)
		}
		for _, name := range []string{"scopes_supported", "claims_supported", "claim_types_supported", "prompt_values_supported", "service_documentation"} {
			require.NotEmpty(t, m[name], name)
			delete(m, name)
		}
		require.Empty(t, m, "advertised, but not looked at here")
	})
}

// Every endpoint answers. Further endpoints that the library would offer are not served.
func TestNothingElseIsServed(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		for _, path := range []string{"/healthz", "/ready", "/device_authorization", "/oauth2/device_authorization", "/oauth2/authorize/callback", "/oauth2/keys/", "/oauth2"} {
			require.Equal(t, http.StatusNotFound, s.get(s.srv.Client(), s.issuer+path).StatusCode, path)
		}
		for _, path := range []string{"/.well-known/openid-configuration", "/oauth2/keys"} {
			r := s.post(path, url.Values{"a": {"b"}})
			require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode, path)
			require.Equal(t, "GET, HEAD", r.Header.Get("Allow"))
		}
	})
}

// The key set contains only the public parts of ES256 signing keys.
func TestKeySet(t *testing.T) {
	once(t, func(t *testing.T, s *idp) {
		r := s.get(s.srv.Client(), s.issuer+"/oauth2/keys")
		require.Equal(t, http.StatusOK, r.StatusCode)
		require.Contains(t, r.Header.Get("Cache-Control"), "max-age=")
		var set jose.JSONWebKeySet
		require.NoError(t, json.Unmarshal([]byte(r.body), &set))
		require.Len(t, set.Keys, 1)
		require.True(t, set.Keys[0].IsPublic())
		require.Equal(t, []string{"ES256", "sig"}, []string{set.Keys[0].Algorithm, set.Keys[0].Use})
		require.NotContains(t, r.body, `"d"`)
	})
}
