package signin_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// A person signs in, allows the application what it asks for, and is not asked either again.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.authorize())
		require.Equal(t, http.StatusOK, p.StatusCode)
		require.Equal(t, "Sign in", p.title())
		require.Contains(t, p.Find(".intro").Text(), "Report Builder")
		require.Contains(t, p.Header.Get("Content-Security-Policy"), "form-action 'self' https://app.test", "the redirect that follows the form")

		p = p.signInAs(s.agent())
		require.Equal(t, "Allow Report Builder?", p.title())
		require.Equal(t, []string{"Know that it is you", "See your e-mail address", "See and change requests and tasks"}, texts(p, ".allows li"))
		require.Contains(t, p.Find("main").Text(), "You continue to app.test.")
		c := p.submit("consent", "allow").claims()
		require.Equal(t, s.agent().ID, c.Subject)
		require.Equal(t, s.A.Company.ID, c.Company)
		require.Equal(t, []string{"pwd"}, c.AMR)

		c = b.get(s.authorize()).claims()
		require.Equal(t, s.agent().ID, c.Subject)
		c = b.get(s.web()).claims()
		require.Equal(t, s.agent().ID, c.Subject, "the web application asks for no consent")
		require.Equal(t, []string{"allowed", "allowed", "allowed"}, s.audited("session.created"))
		e := s.entries("session.created")[0]
		require.Equal(t, s.agent().ID, e.ActorID)
		require.Equal(t, "127.0.0.1", e.IP)
		require.Equal(t, "rid_test", e.RequestID)
		require.Contains(t, e.UserAgent, "Go-http-client")
		require.NotContains(t, string(e.Changes), secret)
	})
}

// The case of the address and blanks around it do not matter; those of the password do.
func TestAddressesAreForgiving(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.browser().get(s.web())
		p = p.submit("email", " "+strings.ToUpper(s.agent().Email)+" ", "password", secret+" ")
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		require.NotEmpty(t, p.submit("email", " "+strings.ToUpper(s.agent().Email)+" ", "password", secret).left().Get("code"))
	})
}

var changing = regexp.MustCompile(`(name="(csrf|state)" value|data-options)="[^"]*"`)

// Nobody learns from an answer whether an address has an account: not by its status, its text or its headers.
func TestWrongProofsLookAlike(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.Create().SetEmail("invited@x.test").Exec(ctx) // has no password yet
		})
		var first *page
		for _, email := range []string{s.agent().Email, "nobody@x.test", "invited@x.test"} {
			p := s.browser().get(s.web()).submit("email", email, "password", "wrong")
			require.Equal(t, "The e-mail address or the password is not right.", p.alert())
			require.Equal(t, email, p.Find("#email").AttrOr("value", ""), "is not to be typed again")
			require.Empty(t, p.Find("#password").AttrOr("value", ""))
			p.html = changing.ReplaceAllString(strings.ReplaceAll(p.html, email, "EMAIL"), "")
			p.html = strings.ReplaceAll(p.html, p.Request.URL.Query().Get("request"), "REQUEST")
			for _, varying := range []string{"Date", "Content-Length", "Set-Cookie"} {
				p.Header.Del(varying)
			}
			if first == nil {
				first = p
			}
			require.Equal(t, first.StatusCode, p.StatusCode)
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
			require.Equal(t, first.html, p.html)
			require.Equal(t, first.Header, p.Header)
		}
		require.Equal(t, []string{"denied"}, s.audited("session.created"), "of the one that has a company")
		require.JSONEq(t, `{"proof": {"from": null, "to": "password"}}`, string(s.entries("session.created")[0].Changes))
	})
}

// The empty hash of an account without a password is not one that an empty password matches.
func TestNoPasswordIsNone(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.Update().ClearPasswordHash().Exec(ctx)
		})
		for _, given := range []string{"", secret, strings.Repeat("x", 3000)} {
			p := s.browser().get(s.web()).submit("email", s.agent().Email, "password", given)
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		}
	})
}

// A hash with other parameters than today's is brought up when its password comes by.
func TestOldHashesAreRenewed(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		old, err := argon2id.CreateHash(secret, &argon2id.Params{Memory: 64, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32})
		require.NoError(t, err)
		require.True(t, testkit.Hasher.NeedsRehash(old))
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.UpdateOneID(s.agent().AccountID).SetPasswordHash(old).Exec(ctx)
		})
		for range 2 {
			require.NotEmpty(t, s.browser().get(s.web()).signInAs(s.agent()).left().Get("code"))
			require.False(t, testkit.Hasher.NeedsRehash(s.account(s.agent()).PasswordHash))
		}
	})
}

// The form comes with the address that the client knows, and goes on without JavaScript.
func TestLoginHint(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.browser().get(s.web("login_hint", "ada@x.test"))
		require.Equal(t, "ada@x.test", p.Find("#email").AttrOr("value", ""))
		require.Equal(t, "username", p.Find("#email").AttrOr("autocomplete", ""))
		require.Equal(t, "current-password", p.Find("#password").AttrOr("autocomplete", ""))
		require.Equal(t, 1, p.Find("[data-passkey-block][hidden]").Length(), "shown by the script alone")
		require.Equal(t, "/forgot", p.Find("a[href='/forgot']").AttrOr("href", ""))
		require.Zero(t, p.Find("a[href='/signup']").Length())
	})
}
