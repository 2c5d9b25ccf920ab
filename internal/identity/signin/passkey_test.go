package signin_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/factor"
	"atrium/internal/identity/signin"
	"atrium/internal/test/testkit"
)

// key is a passkey in a software authenticator.
type key struct {
	s    *site
	auth virtualwebauthn.Authenticator
	cred virtualwebauthn.Credential
	rp   virtualwebauthn.RelyingParty
	mute bool // counts nothing, as those that several devices share
}

func (s *site) key() *key {
	return &key{
		s: s, auth: virtualwebauthn.NewAuthenticator(), cred: virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2),
		rp: virtualwebauthn.RelyingParty{Name: "Atrium", ID: "example.com", Origin: origin},
	}
}

// made is the passkey's answer to a page that wants one to be made.
func (k *key) made(p *page) string {
	k.s.t.Helper()
	o, err := virtualwebauthn.ParseAttestationOptions(p.Find("[data-passkey=create]").AttrOr("data-options", ""))
	require.NoError(k.s.t, err, p.html)
	k.auth.Options.UserHandle = []byte(o.UserID)
	k.auth.AddCredential(k.cred)
	return virtualwebauthn.CreateAttestationResponse(k.rp, k.auth, k.cred, *o)
}

// used is the passkey's answer to a page that wants it to be used.
func (k *key) used(p *page) string {
	k.s.t.Helper()
	o, err := virtualwebauthn.ParseAssertionOptions(p.Find("[data-passkey=get]").AttrOr("data-options", ""))
	require.NoError(k.s.t, err, p.html)
	if !k.mute {
		k.cred.Counter++
	}
	return virtualwebauthn.CreateAssertionResponse(k.rp, k.auth, k.cred, *o)
}

// passkey gives the user a passkey through the pages.
func (s *site) passkey(u *ent.User) *key {
	s.t.Helper()
	b := s.browser()
	require.NotEmpty(s.t, b.get(s.web()).signInAs(u).left().Get("code"))
	k := s.key()
	p := b.get("/account/mfa?add=passkey")
	p = p.submit("credential", k.made(p))
	require.Equal(s.t, "Keep your recovery codes", p.title(), p.html)
	require.Equal(s.t, "Second factor", p.goOn().title())
	s.later(time.Second)
	return k
}

// A passkey that verifies its owner signs in by itself, with both proofs at once.
func TestPasskeyAlone(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		k := s.passkey(s.agent())
		s.requireMFA()
		p := s.browser().get(s.web())
		c := p.submit("state", p.state(), "credential", k.used(p)).claims()
		require.Equal(t, s.agent().ID, c.Subject)
		require.Equal(t, []string{"hwk", "mfa"}, c.AMR)
	})
}

// state is what the page's passkey form carries.
func (p *page) state() string {
	_, fields := p.form("state")
	return fields.Get("state")
}

// After the password, a passkey is a second factor like any other.
func TestPasskeySecond(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		k := s.passkey(s.agent())
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, "Confirm that it is you", p.title())
		require.Equal(t, "Recovery code", p.Find("label[for=code]").Text())
		k.auth.Options.UserNotVerified = true // the password has done that
		require.Equal(t, []string{"pwd", "hwk", "mfa"}, p.submit("credential", k.used(p)).claims().AMR)
	})
}

// What is no good answer of the right passkey is refused, and changes nothing.
func TestWrongPasskeys(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		k := s.passkey(s.agent())
		refused := func(why string, answer func(p *page) []string) {
			b := s.browser()
			p := b.get(s.web())
			p = p.submit(answer(p)...)
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode, why)
			require.Contains(t, p.alert(), "not accepted", why)
			require.Empty(t, b.cookie(signInCookie), why)
		}
		with := func(change func(k *key)) func(p *page) []string {
			return func(p *page) []string {
				other := *k
				other.cred.Counter = k.cred.Counter + 10
				change(&other)
				return []string{"state", p.state(), "credential", other.used(p)}
			}
		}
		refused("does not verify its owner", with(func(k *key) { k.auth.Options.UserNotVerified = true }))
		refused("for another site", with(func(k *key) { k.rp.Origin = "https://evil.test" }))
		refused("of another site", with(func(k *key) { k.rp.ID = "evil.test" }))
		refused("of no text", with(func(k *key) { k.auth.Options.UserHandle = []byte("acc\x00none") }))
		refused("of nobody", with(func(k *key) { k.auth.Options.UserHandle = []byte("acc_none") }))
		refused("of somebody else", with(func(k *key) { k.auth.Options.UserHandle = []byte(s.A.Users["member"].AccountID) }))
		refused("another key", with(func(k *key) {
			fresh := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
			k.cred.Key = fresh.Key
		}))
		refused("unknown key", with(func(k *key) { k.cred = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) }))
		refused("nonsense", func(p *page) []string { return []string{"state", p.state(), "credential", "{}"} })
		refused("another browser's challenge", func(p *page) []string {
			theirs := s.browser().get(s.web())
			return []string{"state", theirs.state(), "credential", k.used(theirs)}
		})
		refused("another challenge", func(p *page) []string {
			return []string{"state", p.state(), "credential", k.used(p.b.get(p.Request.URL.String()))}
		})
		refused("too late", func(p *page) []string {
			s.later(6 * time.Minute)
			return []string{"state", p.state(), "credential", k.used(p)}
		})
		require.Contains(t, s.audited("session.created"), "denied")
	})
}

// A challenge is answered once, and a passkey whose counter does not move on was copied.
func TestPasskeyReplay(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		k := s.passkey(s.agent())
		k.mute = true
		p := s.browser().get(s.web())
		answer := k.used(p)
		action, fields := p.form("state")
		fields.Set("credential", answer)
		planted := p.b.cookie(formCookie)
		require.NotEmpty(t, p.b.post(action, fields).left().Get("code"))

		thief := s.browser() // has seen all that went over the wire
		thief.keep(formCookie, planted)
		thief.keep("__Host-atrium-authorize", p.b.cookie("__Host-atrium-authorize"))
		next := thief.get(s.web())
		to, err := next.Request.URL.Parse("/signin/passkey?" + next.Request.URL.RawQuery)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnprocessableEntity, thief.post(to.String(), fields).StatusCode)

		k.mute = false
		p = s.browser().get(s.web())
		require.NotEmpty(t, p.submit("state", p.state(), "credential", k.used(p)).left().Get("code"))
		k.mute = true
		p = s.browser().get(s.web())
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("state", p.state(), "credential", k.used(p)).StatusCode, "copied")

		k.mute = false
		p = s.browser().get(s.web()).signInAs(s.agent())
		action, fields = p.form("credential")
		fields.Set("credential", k.used(p))
		require.NotEmpty(t, p.b.post(action, fields).left().Get("code"))
		p = p.b.get(s.web("prompt", "login")).signInAs(s.agent())
		_, again := p.form("credential")
		again.Set("credential", fields.Get("credential"))
		require.Equal(t, http.StatusUnprocessableEntity, p.b.post(action[:len(origin)+len("/signin/passkey?")]+p.Request.URL.RawQuery, again).StatusCode)
	})
}

// Whoever must enrol may enrol a passkey, once; what is kept of it is public.
func TestEnrolPasskey(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.requireMFA()
		b := s.browser()
		p := b.get(s.web()).signInAs(s.agent())
		p = b.get(p.Find("a[href*='add=passkey']").AttrOr("href", ""))
		require.Equal(t, "page", p.Find("a[href*='add=passkey']").AttrOr("aria-current", ""))
		k := s.key()
		bad := p.submit("credential", `{"id":"x"}`)
		require.Equal(t, http.StatusUnprocessableEntity, bad.StatusCode)
		require.Contains(t, bad.alert(), "could not be added")
		p = bad.submit("credential", k.made(bad))
		require.Equal(t, []string{"pwd", "hwk", "mfa"}, p.goOn().claims().AMR)

		f, err := s.Store.Reader().Factor.Query().Only(s.system())
		require.NoError(t, err)
		require.Equal(t, factor.KindPasskey, f.Kind)
		require.Equal(t, k.cred.ID, *f.CredentialID)
		require.Empty(t, f.SecretSealed)

		p = b.get("/account/mfa?add=passkey")
		require.Contains(t, p.Find("[data-passkey=create]").AttrOr("data-options", ""), "excludeCredentials")
		p = p.submit("credential", k.made(p))
		require.Equal(t, http.StatusConflict, p.StatusCode)
		require.Contains(t, p.alert(), "enrolled already")
	})
}

// Browsers know no passkeys on IP addresses: there the pages offer none, and take none.
func TestNoPasskeysOnAddresses(t *testing.T) {
	t.Parallel()
	w := testkit.SQLiteWorld(t)
	s := serve(t, w, func(o *signin.Options) { o.AuthURL = "https://127.0.0.1:8443" })
	b := s.browser()
	p := b.get(s.web())
	require.Zero(t, p.Find("[data-passkey]").Length())
	_, fields := p.form("password")
	fields.Set("credential", "{}")
	require.Equal(t, http.StatusUnprocessableEntity, b.post("/signin/passkey?"+p.Request.URL.RawQuery, fields).StatusCode)
	require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"))
	p = b.get("/account/mfa?add=passkey")
	require.Equal(t, 1, p.Find("code.uri").Length(), "an app instead")
	_, fields = p.form("code")
	fields.Set("credential", "{}")
	require.Equal(t, http.StatusUnprocessableEntity, b.post("/account/mfa/passkey", fields).StatusCode)
}
