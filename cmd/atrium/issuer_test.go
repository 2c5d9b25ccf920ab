package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// One server uses another as its external issuer: people sign in there, become members when the company allows it, and the pages
// of the embedded provider are not served.
func TestAnotherIssuer(t *testing.T) {
	t.Parallel()
	issuer := onSQLite(t)
	at := issuer.serve()
	there := issuer.firstRun()

	// The application's address must be known before its OAuth client can be registered.
	listen := freeAddress(t)
	client := issuer.application(there.Company.ID, "https://"+listen+"/login/callback", "--confidential")
	id, ok := client["clientId"].(string)
	require.True(t, ok)
	secret, ok := client["clientSecret"].(string)
	require.True(t, ok)

	p := onSQLite(t)
	n := p.serve("ATRIUM_OIDC_CLIENT_SECRET="+secret, "--listen", listen, "--oidc-issuer", at.base, "--oidc-audience", at.base,
		"--oidc-client-id", id, "--egress-ca", filepath.Join(issuer.data, "ca.pem"))
	here := p.firstRun()
	n.call(p.client(), 404, "GET", "/.well-known/openid-configuration", "", "")
	n.call(p.client(), 404, "GET", "/signin", "", "")

	both := filepath.Join(t.TempDir(), "both.pem")
	require.NoError(t, os.WriteFile(both, append(read(t, issuer.data, "ca.pem"), read(t, p.data, "ca.pem")...), 0o600))
	input := map[string]any{"application": n.base, "email": there.Owner.Email, "password": there.Owner.Password}
	// Both demo companies' owners have the same address. The issuer vouches for it, so the subject is mapped to the owner here.
	require.JSONEq(t, `{"data": {"viewer": {"email": "`+there.Owner.Email+`", "role": "owner"}}}`, n.scriptTrusting(both, "external.mjs", input))

	// An unknown person becomes a member only of a company that allows it.
	issuer.object("user", "invite", "--company", there.Company.ID, "--email", "new@demo.example", "--role", "agent")
	input = map[string]any{
		"application": n.base, "email": "new@demo.example", "password": "harbour lantern orchid", "invitation": issuer.mailedLink("new@demo.example", "/invitation"),
	}
	require.Equal(t, "403\n", n.scriptTrusting(both, "external.mjs", input))
	n.graphQL(p.token(here.Company.ID, here.Owner.Email), `mutation { updateCompany(input: {jitUsers: true}) { company { id } } }`, nil)
	delete(input, "invitation")
	require.JSONEq(t, `{"data": {"viewer": {"email": "new@demo.example", "role": "member"}}}`, n.scriptTrusting(both, "external.mjs", input))
}

// mailedLink waits for a mail to an address in the outbox and returns the link to a page in the newest one.
func (p place) mailedLink(to, page string) string {
	p.t.Helper()
	link := regexp.MustCompile(`https://[^\s/]+` + regexp.QuoteMeta(page) + `\?token=[A-Za-z0-9_-]+`)
	found := ""
	require.Eventually(p.t, func() bool {
		mails, err := filepath.Glob(filepath.Join(p.data, "outbox", "*.eml"))
		if err != nil {
			return false
		}
		for _, name := range mails {
			b, err := os.ReadFile(name)
			if err == nil && bytes.Contains(b, []byte(to)) && link.Match(b) {
				found = string(link.Find(b))
			}
		}
		return found != ""
	}, patience, 10*time.Millisecond, "no mail to %s", to)
	return found
}

func read(t *testing.T, elements ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elements...))
	require.NoError(t, err)
	return b
}
