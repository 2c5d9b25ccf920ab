package signin_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/pquerna/otp"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/identity/signin"
	"atrium/internal/identity/throttle"
	"atrium/internal/platform/store"
)

// app is an authenticator app that has read an enrolment page.
type app struct {
	s   *site
	key *otp.Key
}

// read enrols the address that stands on the page as text.
func (s *site) read(p *page) *app {
	s.t.Helper()
	require.Equal(s.t, "data:image/png;base64,", p.Find(".qr img").AttrOr("src", "")[:22])
	uri := strings.TrimSpace(p.Find("code.uri").Text())
	require.True(s.t, strings.HasPrefix(uri, "otpauth://totp/"), p.html)
	key, err := otp.NewKeyFromURL(uri)
	require.NoError(s.t, err)
	return &app{s, key}
}

// now is the code that the app shows.
func (a *app) now() string { return a.at(a.s.Clock.Now()) }

func (a *app) at(t time.Time) string {
	a.s.t.Helper()
	code, err := totp.GenerateCode(a.key.Secret(), t)
	require.NoError(a.s.t, err)
	return code
}

// requireMFA makes company A require a second factor.
func (s *site) requireMFA() {
	s.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.Company.Update().Where(company.ID(s.A.Company.ID)).SetMfaRequired(true).Exec(ctx)
	})
}

// enrolled gives the user an authenticator app through the pages, and returns it with the recovery codes.
func (s *site) enrolled(u *ent.User) (*app, []string) {
	s.t.Helper()
	b := s.browser()
	require.NotEmpty(s.t, b.get(s.web()).signInAs(u).left().Get("code"))
	p := b.get("/account/mfa")
	a := s.read(p)
	p = p.submit("code", a.now())
	codes := texts(p, "[data-recovery-code]")
	require.Len(s.t, codes, 10, p.html)
	require.Equal(s.t, "Second factor", p.goOn().title())
	s.later(time.Minute) // the next code is another one
	return a, codes
}

// Where the company requires a second factor, a member without one enrols before anything else works, keeps ten recovery
// codes, and goes on to the application.
func TestForcedEnrolment(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.requireMFA()
		b := s.browser()
		p := b.get(s.authorize()).signInAs(s.agent())
		require.Equal(t, "Set up a second factor", p.title())
		require.Equal(t, p.title(), b.get(s.authorize()).title(), "and nothing else")
		require.Equal(t, "interaction_required", b.get(s.authorize("prompt", "none")).left().Get("error"))
		a := s.read(p)
		require.Equal(t, "Atrium", a.key.Issuer())
		require.Equal(t, s.agent().Email, a.key.AccountName())
		require.Equal(t, a.key.Secret(), s.read(b.get(p.Request.URL.String())).key.Secret(), "the same when it is loaded again")

		p = p.submit("code", "000000")
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		require.Contains(t, p.alert(), "does not match")
		p = p.submit("code", a.now())
		require.Equal(t, "Keep your recovery codes", p.title())
		require.Equal(t, 10, p.Find("[data-recovery-code]").Length())
		require.Equal(t, 1, p.Find("form").Length())
		require.Equal(t, p.title(), b.get(s.authorize()).title(), "until they are kept")
		p = p.goOn()
		require.Equal(t, "Allow Report Builder?", p.title())
		require.Equal(t, []string{"pwd", "otp", "mfa"}, p.submit("consent", "allow").claims().AMR)
		require.Zero(t, b.get("/account/mfa").Find("[data-recovery-code]").Length(), "shown once")

		u, err := s.Store.Reader().User.Get(s.system(), s.agent().ID)
		require.NoError(t, err)
		require.True(t, u.MfaEnabled)
		require.Equal(t, []string{signin.FactorAdded}, s.told.all())
		require.Equal(t, []string{"allowed"}, s.audited("factor.created"))
	})
}

// The second factor is asked for wherever the account has one; a code of the app is good once, and none before it.
func TestReplay(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		code := a.now()
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, "Confirm that it is you", p.title())
		require.Equal(t, "one-time-code", p.Find("#code").AttrOr("autocomplete", ""))
		require.Equal(t, []string{"pwd", "otp", "mfa"}, p.submit("code", " "+code[:3]+" "+code[3:]).claims().AMR)

		for _, used := range []string{code, a.at(s.Clock.Now().Add(-30 * time.Second)), a.at(s.Clock.Now().Add(-time.Hour)), "", "12", "abcdef"} {
			p = s.browser().get(s.web()).signInAs(s.agent()).submit("code", used)
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode, used)
			require.NotEmpty(t, p.alert())
		}
		require.NotEmpty(t, p.submit("code", a.at(s.Clock.Now().Add(30*time.Second))).left().Get("code"), "clocks may differ by one step")
		require.Contains(t, s.audited("session.created"), "denied")
	})
}

// Of many requests with the same code at once, one gets in.
func TestReplayAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, recovery := s.enrolled(s.agent())
		for _, code := range []string{a.now(), recovery[0]} {
			const many = 6
			var pages [many]*page
			for i := range pages {
				pages[i] = s.browser().get(s.web()).signInAs(s.agent())
			}
			var in atomic.Int64
			var wg sync.WaitGroup
			for _, p := range pages {
				action, fields := p.form("code")
				fields.Set("code", code)
				wg.Go(func() {
					if p.b.status(action, fields) == http.StatusSeeOther {
						in.Add(1)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, in.Load())
		}
		s.later(time.Minute)
		told, err := s.signIn.SpendTwice(t.Context(), s.agent().AccountID, a.now())
		require.NoError(t, err)
		require.Equal(t, [2]bool{true, false}, told, "nor when both have looked before either was taken")
	})
}

// A recovery code stands in for the app, once, and its owner is told.
func TestRecoveryCodes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		_, codes := s.enrolled(s.agent())
		p := s.browser().get(s.web()).signInAs(s.agent()).submit("code", strings.ToLower(codes[3]))
		require.Equal(t, []string{"pwd", "otp", "mfa"}, p.claims().AMR)
		require.Contains(t, s.told.all(), signin.CodeUsed)
		p = s.browser().get(s.web()).signInAs(s.agent()).submit("code", codes[3])
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		require.NotEmpty(t, p.submit("code", strings.ReplaceAll(codes[4], "-", " ")).left().Get("code"))

		_, others := s.enrolled(s.A.Users["member"])
		p = s.browser().get(s.web()).signInAs(s.agent()).submit("code", others[0])
		require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode, "somebody else's")

		rows, err := s.Store.Reader().RecoveryCode.Query().All(s.system())
		require.NoError(t, err)
		for _, row := range rows {
			require.Len(t, row.Hash, 32)
		}
	})
}

// Codes are throttled together with passwords: the right password, given again and again, buys no more guesses.
func TestCodesAreThrottled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		s.count(throttle.AccountKey(s.agent().Email), throttle.AccountLimit.Max-3)
		for range 3 {
			p := s.browser().get(s.web()).signInAs(s.agent()).submit("code", "123456")
			require.Equal(t, http.StatusUnprocessableEntity, p.StatusCode)
		}
		wait := s.browser().get(s.web()).signInAs(s.agent()).paused()
		s.later(time.Duration(wait) * time.Second)
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.NotEmpty(t, p.submit("code", a.now()).left().Get("code"), "the password was right, and opens no new pause")
		require.Zero(t, s.failures(throttle.AccountKey(s.agent().Email)))
	})
}

// With the password alone nothing is open but the page that asks for the code: no application, no factors.
func TestHalfwayIsNobody(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		p := b.get(s.web()).signInAs(s.agent())
		require.Equal(t, "login_required", b.get(s.web("prompt", "none")).left().Get("error"))
		require.Equal(t, "Confirm that it is you", b.get("/account/mfa").title())
		require.Equal(t, "Confirm that it is you", b.get(s.authorize()).title())
		for _, path := range []string{"/signin/consent", "/signin/company", "/signin/enrol/totp", "/signin/enrol/kept", "/account/mfa/codes", "/account/mfa/remove"} {
			_, fields := p.form("code")
			fields.Set("consent", "allow")
			require.Equal(t, "Confirm that it is you", b.post(path+"?"+p.Request.URL.RawQuery, fields).title(), path)
		}
		r, err := http.NewRequest(http.MethodGet, origin+"/", nil)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: "__Host-atrium_signin", Value: b.cookie("__Host-atrium_signin")})
		row, err := s.signIn.SignIns().Current(t.Context(), r)
		require.NoError(t, err)
		require.Nil(t, row)

		s.later(16 * time.Minute)
		require.Equal(t, "Sign in", b.get(s.web()).title(), "and not for long")
		p = b.get(s.web()).signInAs(s.agent())
		require.NotEmpty(t, p.submit("code", a.now()).left().Get("code"))
	})
}

// A sign-in from before the factor was enrolled has to give it, too.
func TestEnrolmentElsewhere(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		s.enrolled(s.agent())
		require.Equal(t, "Confirm that it is you", b.get(s.web()).title())
		require.Equal(t, "Confirm that it is you", b.get("/account/mfa").title())
	})
}

// On a development server whose clock was moved on, a telephone's code, of the machine's time, is as good as one of the
// product's.
func TestMovedClock(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		s.later(time.Hour)
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, http.StatusUnprocessableEntity, p.submit("code", a.at(s.Clock.Now().Add(-30*time.Minute))).StatusCode, "neither the one nor the other")
		require.NotEmpty(t, p.submit("code", a.at(time.Now().Add(30*time.Second))).left().Get("code"))
		p = s.browser().get(s.web()).signInAs(s.agent())
		require.NotEmpty(t, p.submit("code", a.now()).left().Get("code"))
	})
}

// The mark at users follows the account in every company and sandbox.
func TestMarkAtUsers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		var mirror *ent.User
		s.change(func(ctx context.Context, tx *store.Tx) (err error) {
			mirror, err = tx.User.Create().SetCompanyID(s.A.Sandbox.ID).SetAccountID(s.agent().AccountID).SetLiveUserID(s.agent().ID).
				SetEmail(s.agent().Email).SetName("A").SetRole("agent").Save(ctx)
			return err
		})
		s.enrolled(s.agent())
		n, err := s.Store.Reader().User.Query().Where(user.MfaEnabled(true)).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.NotEmpty(t, mirror.ID)
	})
}

// goOn sends the only form of a page.
func (p *page) goOn() *page {
	p.b.s.t.Helper()
	action, fields := p.form("csrf")
	return p.b.post(action, fields)
}

// buttons returns the values of the buttons of a name.
func (p *page) buttons(name string) (out []string) {
	p.Find("button[name='" + name + "']").Each(func(_ int, b *goquery.Selection) { out = append(out, b.AttrOr("value", "")) })
	return out
}
