package main_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/require"
)

// On two nodes: an application that asked for it gets a logout token when an admin signs a person out everywhere, and when the
// person is deactivated. A standard verifier accepts the token. The person's tokens are invalid on both nodes afterwards.
func TestClientsAreToldOfRevokedAccess(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.PostFormValue("logout_token") }))
	t.Cleanup(receiver.Close)
	ca := filepath.Join(t.TempDir(), "receiver.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw}), 0o600))
	p := onPostgres(t)
	a := p.serve("--egress-allow", "127.0.0.0/8", "--egress-ca", ca)
	b := p.serve("--egress-allow", "127.0.0.0/8", "--egress-ca", ca, "--base-url", a.base)
	first := p.firstRun()
	owner := p.token(first.Company.ID, first.Owner.Email)
	client, ok := p.application(first.Company.ID, "http://127.0.0.1/callback", "--backchannel-logout-uri", receiver.URL+"/out")["clientId"].(string)
	require.True(t, ok)
	who := person{t: t, n: a, email: "leaver@demo.example", password: "harbour lantern orchid"}
	p.object("user", "invite", "--company", first.Company.ID, "--email", who.email, "--role", "agent")
	who.accept(p.mailedLink(who.email, "/invitation"))

	for _, mutation := range []string{
		`mutation ($id: ID!) { endAllSessions(input: {userId: $id}) { user { id } } }`,
		`mutation ($id: ID!) { deactivateUser(input: {id: $id}) { user { status } } }`,
	} {
		access, id := who.tokens(client)
		b.call(p.client(), 200, "GET", "/v1/requests", access, "")
		given := a.verify(client, id)
		a.graphQL(owner, mutation, map[string]any{"id": given.Subject})
		done := time.Now()
		a.call(p.client(), 401, "GET", "/v1/requests", access, "")
		require.Eventually(t, func() bool {
			res, err := send(p.client(), "GET", b.base+"/v1/requests", access, "")
			return err == nil && res.status == 401
		}, atOnce, time.Millisecond)
		t.Logf("the other node refused the token after %v", time.Since(done))
		var token string
		select {
		case token = <-told:
		case <-time.After(patience):
			require.FailNow(t, "the client was not told", mutation)
		}
		t.Logf("the client was told after %v", time.Since(done))
		logout := a.verify(client, token)
		require.Equal(t, given.Subject, logout.Subject)
		require.Equal(t, given.claims["sid"], logout.claims["sid"])
		require.Contains(t, logout.claims["events"], "http://schemas.openid.net/event/backchannel-logout")
		require.NotContains(t, logout.claims, "nonce")
	}
	require.Empty(t, told, "once each")
}

// verified is a token that a standard verifier has accepted.
type verified struct {
	*oidc.IDToken
	claims map[string]any
}

// verify verifies a token for a client with the node's published metadata and keys.
func (n *node) verify(clientID, token string) verified {
	n.t.Helper()
	ctx := oidc.ClientContext(context.Background(), n.client())
	provider, err := oidc.NewProvider(ctx, n.base)
	require.NoError(n.t, err)
	out := verified{}
	out.IDToken, err = provider.Verifier(&oidc.Config{ClientID: clientID}).Verify(ctx, token)
	require.NoError(n.t, err)
	require.NoError(n.t, out.Claims(&out.claims))
	return out
}

// person signs in at a node with a browser without scripts.
type person struct {
	t               *testing.T
	n               *node
	email, password string
}

// browser returns a new browser. It does not follow redirects to an application.
func (p person) browser() *http.Client {
	p.t.Helper()
	c := p.n.client()
	browse(p.t, c)
	return c
}

// browse makes a client a browser without scripts: it has cookies, and follows no redirects to an application.
func browse(t testing.TB, c *http.Client) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c.Jar = jar
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme == "http" {
			return http.ErrUseLastResponse
		}
		if len(via) > 10 {
			return errors.New("too many redirects")
		}
		return nil
	}
}

// page is the page that a browser shows, or the redirect to an application.
type page struct{ at, text, location string }

func (p person) open(c *http.Client, to string, form url.Values) page {
	p.t.Helper()
	on, err := open(p.t.Context(), c, p.n.base, to, form)
	require.NoError(p.t, err)
	return on
}

// open opens a page of the origin, or submits a form to it.
func open(ctx context.Context, c *http.Client, origin, to string, form url.Values) (page, error) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(form.Encode()))
	if err != nil {
		return page{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", origin)
	}
	res, err := c.Do(req)
	if err != nil {
		return page{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return page{at: res.Request.URL.String(), text: string(text), location: res.Header.Get("Location")}, err
}

var (
	anyForm  = regexp.MustCompile(`<form method="post"(?: action="([^"]*)")?`)
	anyInput = regexp.MustCompile(`<input [^>]*name="([^"]+)"[^>]* value="([^"]*)"`)
)

// submit submits the page's first form, including its hidden fields.
func (p person) submit(c *http.Client, on page, fields url.Values) page {
	p.t.Helper()
	on, err := submit(p.t.Context(), c, p.n.base, on, fields)
	require.NoError(p.t, err)
	return on
}

func submit(ctx context.Context, c *http.Client, origin string, on page, fields url.Values) (page, error) {
	action := anyForm.FindStringSubmatch(on.text)
	if action == nil {
		return page{}, fmt.Errorf("no form: %s", on.text)
	}
	for _, input := range anyInput.FindAllStringSubmatch(on.text, -1) {
		if !fields.Has(input[1]) {
			fields.Set(input[1], html.UnescapeString(input[2]))
		}
	}
	at, err := url.Parse(on.at)
	if err != nil {
		return page{}, err
	}
	to, err := at.Parse(html.UnescapeString(action[1]))
	if err != nil {
		return page{}, err
	}
	return open(ctx, c, origin, to.String(), fields)
}

// accept accepts an invitation and sets the person's password.
func (p person) accept(link string) {
	p.t.Helper()
	c := p.browser()
	p.submit(c, p.open(c, link, nil), url.Values{"password": {p.password}})
}

// tokens signs the person in for a public client, and returns its access token and ID token.
func (p person) tokens(clientID string) (access, id string) {
	p.t.Helper()
	access, id, err := signIn(p.t.Context(), p.browser(), p.n.base, clientID, p.email, p.password)
	require.NoError(p.t, err)
	return access, id
}

// signIn signs a person in for a public client by the pages of the origin, and returns its access token and ID token.
func signIn(ctx context.Context, c *http.Client, origin, clientID, email, password string) (access, id string, err error) {
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	const callback = "http://127.0.0.1/callback"
	on, err := open(ctx, c, origin, origin+"/oauth2/authorize?"+url.Values{
		"client_id": {clientID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid requests:read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode(), nil)
	if err == nil {
		on, err = submit(ctx, c, origin, on, url.Values{"email": {email}, "password": {password}})
	}
	if err == nil && on.location == "" {
		on, err = submit(ctx, c, origin, on, url.Values{"consent": {"allow"}})
	}
	if err != nil {
		return "", "", err
	}
	back, err := url.Parse(on.location)
	if err != nil || back.Query().Get("code") == "" {
		return "", "", fmt.Errorf("no code: %s %s", on.location, on.text)
	}
	on, err = open(ctx, c, origin, origin+"/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {clientID}, "redirect_uri": {callback}, "code_verifier": {verifier},
	})
	if err != nil {
		return "", "", err
	}
	var out struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
	}
	if err := json.Unmarshal([]byte(on.text), &out); err != nil || out.Access == "" || out.ID == "" {
		return "", "", fmt.Errorf("no tokens: %s", on.text)
	}
	return out.Access, out.ID, nil
}
