package provider_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"atrium/ent/authrequest"
	"atrium/internal/identity"
)

// Errors that are reported to the client by a redirect carry the error code of the standard, the client's state and the issuer
// (RFC 9207).
func TestAuthorizeRefusals(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		long := strings.Repeat("x", 2001)
		for name, c := range map[string]struct {
			with url.Values
			want string
		}{
			"no response type":          {url.Values{"response_type": nil}, "invalid_request"},
			"implicit":                  {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
			"ID token from the front":   {url.Values{"response_type": {"id_token"}}, "unsupported_response_type"},
			"hybrid":                    {url.Values{"response_type": {"code id_token"}}, "unsupported_response_type"},
			"no PKCE":                   {url.Values{"code_challenge": nil, "code_challenge_method": nil}, "invalid_request"},
			"a challenge of no method":  {url.Values{"code_challenge_method": nil}, "invalid_request"},
			"plain PKCE":                {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
			"plain in disguise":         {url.Values{"code_challenge": {verifier}}, "invalid_request"},
			"method in lower case":      {url.Values{"code_challenge_method": {"s256"}}, "invalid_request"},
			"method without challenge":  {url.Values{"code_challenge": nil}, "invalid_request"},
			"fragment":                  {url.Values{"response_mode": {"fragment"}}, "invalid_request"},
			"form post":                 {url.Values{"response_mode": {"form_post"}}, "invalid_request"},
			"request object":            {url.Values{"request": {"eyJhbGciOiJub25lIn0.e30."}}, "request_not_supported"},
			"empty request object":      {url.Values{"request": {""}}, "request_not_supported"},
			"request by reference":      {url.Values{"request_uri": {"https://evil.test/r"}}, "request_uri_not_supported"},
			"registration":              {url.Values{"registration": {"{}"}}, "registration_not_supported"},
			"unknown prompt":            {url.Values{"prompt": {"sing"}}, "invalid_request"},
			"none and more":             {url.Values{"prompt": {"none login"}}, "invalid_request"},
			"negative age":              {url.Values{"max_age": {"-1"}}, "invalid_request"},
			"age in words":              {url.Values{"max_age": {"old"}}, "invalid_request"},
			"age of aeons":              {url.Values{"max_age": {"9999999999"}}, "invalid_request"},
			"long nonce":                {url.Values{"nonce": {long}}, "invalid_request"},
			"long hint":                 {url.Values{"login_hint": {long}}, "invalid_request"},
			"NUL":                       {url.Values{"nonce": {"a\x00b"}}, "invalid_request"},
			"line break":                {url.Values{"login_hint": {"a\r\nSet-Cookie: b=c"}}, "invalid_request"},
			"no UTF-8":                  {url.Values{"nonce": {"\xff\xfe"}}, "invalid_request"},
			"unknown parameter, broken": {url.Values{"whatever": {"\x00"}}, "invalid_request"},
			"a scope twice":             {url.Values{"scope": {"openid", "openid"}}, "invalid_request"},
			"a nonce twice":             {url.Values{"nonce": {"a", "b"}}, "invalid_request"},
			"another's resource":        {url.Values{"resource": {"https://elsewhere.example/mcp"}}, "invalid_target"},
			"many scopes":               {url.Values{"scope": {strings.Repeat("s ", 41)}}, "invalid_scope"},
			"no ID token as hint":       {url.Values{"id_token_hint": {"a.b.c"}}, "invalid_request"},
		} {
			r := s.get(s.browser(), s.authorizeURL(c.with))
			require.Equal(t, http.StatusFound, r.StatusCode, "%s: %s", name, r.body)
			loc := r.Header.Get("Location")
			require.True(t, strings.HasPrefix(loc, callback+"&"), "%s: %s", name, loc)
			to, err := url.Parse(loc)
			require.NoError(t, err)
			require.Equal(t, c.want, to.Query().Get("error"), name)
			require.Equal(t, "st&te", to.Query().Get("state"), name)
			require.Equal(t, s.issuer, to.Query().Get("iss"), name)
			require.Empty(t, to.Query().Get("code"), name)
			require.Empty(t, r.Header.Values("Set-Cookie"), name)
		}
		for name, state := range map[string][]string{"twice": {"a", "b"}, "too long": {long}, "broken": {"a\nb"}} {
			q := s.answered(s.browser(), s.authorizeURL(url.Values{"state": state}))
			require.Equal(t, "invalid_request", q.Get("error"), name)
			require.False(t, q.Has("state"), name)
		}
		n, err := s.Store.Reader().AuthRequest.Query().Count(s.system())
		require.NoError(t, err)
		require.Zero(t, n, "nothing of these was kept")
	})
}

// Unless the address is registered for the client, the browser is not redirected: there is no open redirect.
func TestNoRedirectToUnregisteredURIs(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		other := s.register(identity.CreateClientInput{Name: "Other", RedirectURIs: []string{"https://other.test/cb"}}).ID
		for name, with := range map[string]url.Values{
			"unknown client":       {"client_id": {"cli_unknown"}},
			"no client":            {"client_id": nil},
			"two clients":          {"client_id": {s.public.ID, other}},
			"a long client":        {"client_id": {strings.Repeat("c", 5000)}},
			"a client with NUL":    {"client_id": {"cli_\x00"}},
			"no address":           {"redirect_uri": nil},
			"two addresses":        {"redirect_uri": {callback, callback}},
			"elsewhere":            {"redirect_uri": {"https://evil.test/cb"}},
			"another client's":     {"redirect_uri": {"https://other.test/cb"}},
			"encoded twice":        {"redirect_uri": {url.QueryEscape(callback)}},
			"other case":           {"redirect_uri": {strings.Replace(callback, "app", "APP", 1)}},
			"other scheme":         {"redirect_uri": {strings.Replace(callback, "https", "http", 1)}},
			"longer path":          {"redirect_uri": {"https://app.test/cb/../evil?keep=1"}},
			"more query":           {"redirect_uri": {callback + "&more=1"}},
			"with user":            {"redirect_uri": {strings.Replace(callback, "https://", "https://app.test@evil.test/", 1)}},
			"with fragment":        {"redirect_uri": {callback + "#f"}},
			"with port":            {"redirect_uri": {strings.Replace(callback, "app.test", "app.test:443", 1)}},
			"a script":             {"redirect_uri": {"javascript:alert(1)"}},
			"fault and elsewhere":  {"redirect_uri": {"https://evil.test/"}, "response_type": {"token"}},
			"another's, in secret": {"redirect_uri": {"https://evil.test/"}, "request_uri": {"https://evil.test/r"}},
		} {
			r := s.get(s.browser(), s.authorizeURL(with))
			require.Equal(t, http.StatusBadRequest, r.StatusCode, name)
			require.Empty(t, r.Header.Get("Location"), name)
			require.Contains(t, r.Header.Get("Content-Type"), "text/html", name)
			require.NotContains(t, r.body, "evil.test", "%s: it shows nothing that it was sent", name)
			require.Contains(t, r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", name)
		}
		r := s.get(s.browser(), s.issuer+"/oauth2/authorize?client_id=%zz")
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		r = s.get(s.browser(), s.authorizeURL(url.Values{"nonce": {strings.Repeat("x", 17<<10)}}))
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
	})
}

// A native application may use any port of the loopback address that it registered.
func TestLoopbackOnAnyPort(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		native := s.A.Client // http://127.0.0.1/callback
		for _, uri := range []string{"http://127.0.0.1:53211/callback", "http://127.0.0.1/callback"} {
			r := s.get(s.browser(), s.authorizeURL(url.Values{"client_id": {native.ID}, "redirect_uri": {uri}}))
			require.True(t, strings.HasPrefix(r.Header.Get("Location"), uri+"?"), r.Header.Get("Location"))
			to, err := r.Location()
			require.NoError(t, err)
			out := s.exchange(to.Query().Get("code"), url.Values{"client_id": {native.ID}, "redirect_uri": {uri}})
			require.Equal(t, http.StatusOK, out.StatusCode, out.body)
		}
		r := s.get(s.browser(), s.authorizeURL(url.Values{"client_id": {native.ID}, "redirect_uri": {"http://127.0.0.1:53211/other"}}))
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
	})
}

// An authorization request may also be a POST, with all parameters in the body.
func TestAuthorizeByPost(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		uri, err := url.Parse(s.authorizeURL(nil))
		require.NoError(t, err)
		browser := s.browser()
		send := func(method, uri, body string) reply {
			req, err := http.NewRequest(method, uri, strings.NewReader(body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return s.do(browser, req)
		}
		r := send(http.MethodPost, s.issuer+uri.Path, uri.RawQuery)
		require.Equal(t, http.StatusSeeOther, r.StatusCode, r.body)
		require.Contains(t, r.Header.Get("Location"), "code=")
		r = send(http.MethodPost, uri.String(), "scope=openid")
		require.Equal(t, http.StatusBadRequest, r.StatusCode, "half in the address, half in the body")
		r = send(http.MethodPost, s.issuer+uri.Path, uri.RawQuery+"&x="+strings.Repeat("x", 17<<10))
		require.Equal(t, http.StatusBadRequest, r.StatusCode)
		require.Equal(t, http.StatusMethodNotAllowed, send(http.MethodHead, uri.String(), "").StatusCode, "nothing is begun for a look")
		r = send(http.MethodPut, uri.String(), "")
		require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode)
		require.Equal(t, "GET, POST", r.Header.Get("Allow"))
	})
}

// Pending shows the sign-in pages what the client asked for, and the row stores the same.
func TestPendingTellsWhatWasAsked(t *testing.T) {
	each(t, func(t *testing.T, s *idp) {
		narrow := s.narrowClient()
		id, r := s.begin(url.Values{
			"client_id": {narrow}, "scope": {"openid profile"}, "prompt": {"login consent"}, "max_age": {"60"}, "login_hint": {"a@b.test"},
		})
		req, err := s.p.Pending(t.Context(), id, r)
		require.NoError(t, err)
		require.Equal(t, narrow, req.ClientID)
		require.Equal(t, "Narrow", req.ClientName)
		require.Equal(t, s.A.Company.ID, req.CompanyID)
		require.Equal(t, []string{"openid", "profile", "services:read"}, req.Scopes, "without a scope of the API, a token acts with all of the client's")
		require.Equal(t, []string{"login", "consent"}, req.Prompt)
		require.Zero(t, *req.MaxAge, "prompt=login wants a new proof")
		require.Equal(t, "a@b.test", req.LoginHint)
		require.False(t, req.FirstParty)

		row, err := s.Store.Reader().AuthRequest.Query().Where(authrequest.ID(id)).Only(s.system())
		require.NoError(t, err)
		require.Equal(t, []string{"openid", "profile"}, row.Scopes)
		require.Equal(t, oauth2.S256ChallengeFromVerifier(verifier), row.CodeChallenge)
		require.NotContains(t, string(row.BrowserHash), r.Cookies()[0].Value, "the cookie itself is kept nowhere")
	})
}
