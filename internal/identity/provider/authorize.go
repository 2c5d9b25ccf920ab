package provider

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
	"github.com/zitadel/schema"

	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

const (
	maxParams = 16 << 10 // bytes of an authorization request
	maxText   = 2000     // bytes of redirect_uri, state, nonce
	maxScopes = 40
)

// challenge matches a code challenge of method S256: 32 bytes in base64url.
var challenge = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// prompts are the supported values of the parameter prompt.
var prompts = []string{"none", "login", "consent", "select_account"}

// refusal is an OAuth error that is reported to the client by a redirect.
type refusal struct{ code, description string }

func (e *refusal) Error() string { return e.code + ": " + e.description }

func invalidRequest(description string) error { return &refusal{"invalid_request", description} }

// authorize checks an authorization request, stores it and redirects the browser to the sign-in pages. Before client and
// redirect URI are verified, errors are shown to the person as a page and never sent by a redirect.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	params, ok := p.readParams(w, r)
	if !ok {
		return
	}
	c, err := p.client(r.Context(), identity.Single(params, "client_id"))
	if err != nil {
		p.errorPage(w, r, err)
		return
	}
	if c == nil {
		p.message(w, r, http.StatusBadRequest, locale.Say("Unknown application"), locale.Say("The application that sent you here is not registered. Nothing was passed on to it."))
		return
	}
	redirectURI := identity.Single(params, "redirect_uri")
	if !identity.RedirectAllowed(c.redirects, redirectURI) || len(redirectURI) > maxText {
		p.message(w, r, http.StatusBadRequest, locale.Say("Wrong return address"), locale.Say("The application that sent you here asked for an answer at an address that is not registered for it. Nothing was passed on."))
		return
	}
	id, err := p.begin(w, r, c, params)
	if e, ok := errors.AsType[*refusal](err); ok { // client and redirect URI are verified: the error goes to the client
		state := identity.Single(params, "state")
		if !clean(state) || len(state) > maxText {
			state = ""
		}
		http.Redirect(w, r, p.respond(redirectURI, state, url.Values{"error": {e.code}, "error_description": {e.description}}), http.StatusFound)
		return
	}
	if err != nil {
		p.errorPage(w, r, err)
		return
	}
	to := c.LoginURL(id)
	if lang := locale.Match(identity.Single(params, "ui_locales")); lang != "" {
		to += "&" + url.Values{"ui_locales": {lang}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// readParams returns the parameters of a GET's query or a POST's form; false when it has already answered the request with an
// error page.
func (p *Provider) readParams(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	bad := func(status int) (url.Values, bool) {
		p.message(w, r, status, locale.Say("Malformed request"), locale.Say("The application that sent you here did not say what it wants."))
		return nil, false
	}
	raw := r.URL.RawQuery
	switch r.Method {
	case http.MethodGet:
	case http.MethodPost:
		if err := gate.ReadForm(w, r, maxParams); err != nil || raw != "" {
			return bad(http.StatusBadRequest)
		}
		return r.PostForm, true
	default:
		w.Header().Set("Allow", "GET, POST")
		return bad(http.StatusMethodNotAllowed)
	}
	params, err := url.ParseQuery(raw)
	if err != nil || len(raw) > maxParams {
		return bad(http.StatusBadRequest)
	}
	return params, true
}

// clean reports whether a text is valid UTF-8 without control characters.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
}

// begin checks the request and stores it. Returns a *refusal for an error that is reported to the client.
func (p *Provider) begin(w http.ResponseWriter, r *http.Request, c *client, params url.Values) (id string, err error) {
	req, err := parseAuthorize(params)
	if err != nil {
		return "", err
	}
	if to := identity.Single(params, "resource"); to != "" && !p.serves(to) { // RFC 8707
		return "", &refusal{"invalid_target", "resource is not served here"}
	}
	scopes, err := c.grantable(req.Scopes)
	if err != nil {
		return "", err
	}
	userID, err := p.hintedUser(r.Context(), c, req.IDTokenHint)
	if err != nil {
		return "", err
	}
	hash := bind(w, r)
	err = p.store.Write(p.global(r.Context()), func(ctx context.Context, tx *store.Tx) error {
		row := tx.AuthRequest.Create().SetClientID(c.id).SetRedirectURI(req.RedirectURI).SetScopes(scopes).SetState(req.State).
			SetNonce(req.Nonce).SetResponseMode(string(req.ResponseMode)).SetCodeChallenge(req.CodeChallenge).SetPrompt(req.Prompt).
			SetLoginHint(req.LoginHint).SetBrowserHash(hash).SetExpiresAt(p.now().Add(requestLife))
		if req.MaxAge != nil {
			row.SetMaxAge(int(*req.MaxAge))
		}
		if userID != "" {
			row.SetUserID(userID)
		}
		made, err := row.Save(ctx)
		if err != nil {
			return err
		}
		id = made.ID
		return nil
	})
	return id, err
}

// resourcePaths are the paths below the base URL that accept access tokens. A token is valid at all of them.
var resourcePaths = []string{"", "/v1", "/graphql", "/mcp"}

// serves reports whether access tokens are issued for a resource (RFC 8707).
func (p *Provider) serves(resource string) bool {
	path, ours := strings.CutPrefix(strings.TrimSuffix(resource, "/"), p.base)
	return ours && slices.Contains(resourcePaths, path)
}

// parseAuthorize reads the parameters of an authorization request whose client and redirect URI are verified.
func parseAuthorize(params url.Values) (*oidc.AuthRequest, error) {
	for name, values := range params {
		switch {
		case len(values) > 1:
			return nil, invalidRequest("a parameter was given more than once")
		case !clean(name) || !clean(values[0]):
			return nil, invalidRequest("a parameter holds characters that are not allowed")
		}
	}
	for name, code := range map[string]string{
		"request": "request_not_supported", "request_uri": "request_uri_not_supported", "registration": "registration_not_supported",
	} {
		if params.Has(name) {
			return nil, &refusal{code, name + " is not supported"}
		}
	}
	req, decoder := new(oidc.AuthRequest), schema.NewDecoder()
	decoder.IgnoreUnknownKeys(true)
	if err := decoder.Decode(req, params); err != nil {
		return nil, invalidRequest("a parameter is malformed")
	}
	return req, checkAuthorize(req)
}

// checkAuthorize checks that the provider supports what the request asks for.
func checkAuthorize(req *oidc.AuthRequest) error {
	switch {
	case req.ResponseType == "":
		return invalidRequest("response_type is missing")
	case req.ResponseType != oidc.ResponseTypeCode:
		return &refusal{"unsupported_response_type", "response_type must be code"}
	case req.ResponseMode != "" && req.ResponseMode != oidc.ResponseModeQuery:
		return invalidRequest("response_mode must be query")
	case req.CodeChallenge == "":
		return invalidRequest("code_challenge is missing: PKCE is required")
	case req.CodeChallengeMethod != oidc.CodeChallengeMethodS256:
		return invalidRequest("code_challenge_method must be S256")
	case !challenge.MatchString(req.CodeChallenge):
		return invalidRequest("code_challenge is not what S256 makes")
	case len(req.State) > maxText || len(req.Nonce) > maxText || len(req.LoginHint) > text.MaxEmail:
		return invalidRequest("state, nonce or login_hint is too long")
	case len(req.Scopes) > maxScopes:
		return &refusal{"invalid_scope", "too many scopes"}
	case req.MaxAge != nil && *req.MaxAge > 1<<30:
		return invalidRequest("max_age is too large")
	case slices.ContainsFunc(req.Prompt, func(s string) bool { return !slices.Contains(prompts, s) }):
		return invalidRequest("prompt is unknown")
	}
	maxAge, err := op.ValidateAuthReqPrompt(req.Prompt, req.MaxAge)
	if err != nil {
		return invalidRequest("prompt none stands alone")
	}
	req.MaxAge = maxAge // 0 with prompt=login
	return nil
}

// errorPage logs an internal error and answers with an error page: 503 while the database is unreachable, else 500.
func (p *Provider) errorPage(w http.ResponseWriter, r *http.Request, err error) {
	p.log.ErrorContext(r.Context(), "a request to the identity provider failed", "path", r.URL.Path, "error", err)
	if store.IsUnavailable(err) {
		w.Header().Set("Retry-After", retryAfter)
		p.message(w, r, http.StatusServiceUnavailable, locale.Say("Not available at the moment"), locale.Say("The service cannot reach its data. Try again in a moment."))
		return
	}
	p.message(w, r, http.StatusInternalServerError, locale.Say("Something went wrong"), locale.Say("That was on our side. Try again in a moment."))
}
