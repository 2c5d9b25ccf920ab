package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/signin"
	"atrium/internal/identity/access"
	"atrium/internal/platform/store"
)

const (
	signInCookie = "__Host-atrium_signin"
	formCookie   = "__Host-atrium_form"
)

// A form is taken from the browser that it was shown to, and from our own pages: login and every later step are safe
// from forged requests.
func TestForgedForms(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		victim, attacker := s.browser(), s.browser()
		foreign := attacker.get(s.web())
		_, theirs := foreign.form("password")
		p := victim.get(s.web())
		action, fields := p.form("password")
		fields.Set("email", s.agent().Email)
		fields.Set("password", secret)
		with := func(csrf string) url.Values {
			f := url.Values{"email": fields["email"], "password": fields["password"]}
			if csrf != "" {
				f.Set("csrf", csrf)
			}
			return f
		}
		from := func(header, value string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set(header, value) }
		}
		for name, forged := range map[string]*page{
			"no token":          victim.post(action, with("")),
			"another browser's": victim.post(action, with(theirs.Get("csrf"))),
			"token in the URL":  victim.post(action+"&csrf="+fields.Get("csrf"), with("")),
			"another site":      victim.post(action, fields, from("Sec-Fetch-Site", "cross-site")),
			"a subdomain":       victim.post(action, fields, from("Sec-Fetch-Site", "same-site")),
			"another origin":    victim.post(action, fields, from("Origin", "https://evil.test")),
			"an opaque origin":  victim.post(action, fields, from("Origin", "null")),
		} {
			require.Equal(t, http.StatusForbidden, forged.StatusCode, name)
			require.Equal(t, "This page is out of date", forged.title(), name)
			require.Empty(t, victim.cookie(signInCookie), name)
		}
		require.NotEmpty(t, victim.post(action, fields, from("Origin", origin), from("Sec-Fetch-Site", "same-origin")).left().Get("code"))

		p = victim.get(s.authorize())
		action, fields = p.form("consent")
		fields.Set("consent", "allow")
		fields.Del("csrf")
		require.Equal(t, http.StatusForbidden, victim.post(action, fields).StatusCode, "consent")
	})
}

// Out of date is what a form of before a sign-in is. The page leads back to where it was.
func TestFormsFromBefore(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		old := b.get(s.authorize())
		require.Equal(t, "Allow Report Builder?", b.get(s.authorize()).signInAs(s.agent()).title())
		action, fields := old.form("password")
		p := b.post(action, fields, func(r *http.Request) { r.Header.Set("Referer", old.Request.URL.String()) })
		require.Equal(t, http.StatusForbidden, p.StatusCode)
		require.Equal(t, "Allow Report Builder?", b.get(p.Find("a.button").AttrOr("href", "")).title())
		p = b.post(action, fields, func(r *http.Request) { r.Header.Set("Referer", "https://evil.test/signin") })
		require.Zero(t, p.Find("a.button").Length())
	})
}

// A request can be answered in the browser that began it, and nowhere else: nobody signs a victim in to the attacker's
// account, or the attacker in to the victim's.
func TestRequestsBelongToTheirBrowser(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.browser().get(s.web())
		elsewhere := s.browser().get(p.Request.URL.String())
		require.Equal(t, http.StatusGone, elsewhere.StatusCode)
		require.Equal(t, "This sign-in has ended", elsewhere.title())
		require.Equal(t, origin+"/login", elsewhere.Find("a.button").AttrOr("href", ""))
		for _, path := range []string{"/signin", "/signin?request=", "/signin?request=arq_0", "/signin?request=" + strings.Repeat("x", 500)} {
			require.Equal(t, http.StatusGone, s.browser().get(path).StatusCode, path)
		}
		b := s.browser()
		done := b.get(s.web())
		require.NotEmpty(t, done.signInAs(s.agent()).left().Get("code"))
		require.Equal(t, http.StatusGone, b.get(done.Request.URL.String()).StatusCode, "answered already")
	})
}

// Every proof renews the cookie: one that was planted, or seen before, opens nothing after.
func TestSessionFixation(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		p := b.get(s.web())
		planted := b.cookie(formCookie)
		p = p.signInAs(s.agent())
		half := b.cookie(signInCookie)
		require.NotEmpty(t, half)
		require.NotEqual(t, planted, b.cookie(formCookie))
		require.NotEmpty(t, p.submit("code", a.now()).left().Get("code"))
		whole := b.cookie(signInCookie)
		require.NotEqual(t, half, whole)

		thief := s.browser()
		thief.keep(signInCookie, half)
		require.Equal(t, "Sign in", thief.get(s.web()).title())
		s.later(time.Minute)
		require.Equal(t, "Confirm that it is you", b.get(s.web("prompt", "login")).signInAs(s.agent()).title())
		thief.keep(signInCookie, whole)
		require.Equal(t, "Sign in", thief.get(s.web()).title())

		n, err := s.Store.Reader().SignIn.Query().Where(signin.AccountID(s.agent().AccountID), signin.EndedAtIsNil()).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 2, n, "the browser that enrolled, and this one, which kept its row")
	})
}

// Two cookies of the name: one of them was tossed in from elsewhere, and nothing tells which. Nobody is signed in.
func TestCookieTossing(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		mine, theirs := s.browser(), s.browser()
		require.NotEmpty(t, mine.get(s.web()).signInAs(s.agent()).left().Get("code"))
		require.NotEmpty(t, theirs.get(s.web()).signInAs(s.A.Users["member"]).left().Get("code"))
		r, err := http.NewRequest(http.MethodGet, origin+"/account/mfa", nil)
		require.NoError(t, err)
		for _, b := range []*browser{theirs, mine} {
			r.AddCookie(&http.Cookie{Name: signInCookie, Value: b.cookie(signInCookie)})
		}
		row, err := s.signIn.SignIns().Current(t.Context(), r)
		require.NoError(t, err)
		require.Nil(t, row)

		p := mine.get(s.web("prompt", "login"))
		action, fields := p.form("password")
		fields.Set("email", s.agent().Email)
		fields.Set("password", secret)
		p = mine.post(action, fields, func(r *http.Request) {
			r.AddCookie(&http.Cookie{Name: formCookie, Value: theirs.cookie(formCookie)})
		})
		require.Equal(t, http.StatusForbidden, p.StatusCode)
	})
}

// The cookies are what browsers keep closest, and only their hashes are in the database.
func TestCookies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		to, err := b.get(s.web()).Location()
		require.NoError(t, err)
		p := b.get(to.String())
		set := p.Cookies()
		p = p.signInAs(s.agent())
		set = append(set, p.Cookies()...)
		names := map[string]bool{}
		for _, c := range set {
			names[c.Name] = true
			require.True(t, strings.HasPrefix(c.Name, "__Host-"), c.Name)
			require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.Domain == "", c.Name)
			require.Equal(t, http.SameSiteLaxMode, c.SameSite, c.Name)
		}
		require.Len(t, names, 3)
		row, err := s.Store.Reader().SignIn.Query().Only(s.system())
		require.NoError(t, err)
		require.Len(t, row.TokenHash, 32)
		require.NotContains(t, b.cookie(signInCookie), string(row.TokenHash))
		for _, value := range []string{"x", b.cookie(signInCookie) + "A", b.cookie(signInCookie)[1:]} {
			other := s.browser()
			other.keep(signInCookie, value)
			require.Equal(t, "Sign in", other.get(s.web()).title())
		}
	})
}

// A sign-in lasts twelve hours, or until it is ended.
func TestSignInsEnd(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		s.later(11 * time.Hour)
		require.NotEmpty(t, b.get(s.web()).left().Get("code"))
		s.later(61 * time.Minute)
		p := b.get(s.web())
		require.Equal(t, "Sign in", p.title())

		require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"))
		s.change(func(ctx context.Context, tx *store.Tx) error {
			_, err := access.End(ctx, access.In(tx, nil), access.SignIns(s.agent().AccountID), access.SignedOut)
			return err
		})
		require.Equal(t, "Sign in", b.get(s.web()).title())

		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		p = b.get("/account/mfa")
		_, fields := p.form("code")
		require.Equal(t, "You are signed out", b.post("/account/mfa/signout", fields).title())
		require.Empty(t, b.cookie(signInCookie))
		require.Equal(t, "Sign in", b.get(s.web()).title())
	})
}

// Another account in the same browser takes the place of the first, whose cookie is dead.
func TestAnotherAccount(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.authorize()).signInAs(s.agent())
		first := b.cookie(signInCookie)
		p = b.get(p.Find("a[href*='as=other']").AttrOr("href", ""))
		require.Equal(t, "Sign in", p.title())
		require.Equal(t, first, b.cookie(signInCookie), "until the other one has proved itself")
		require.Equal(t, s.A.Users["member"].ID, p.signInAs(s.A.Users["member"]).submit("consent", "allow").claims().Subject)
		thief := s.browser()
		thief.keep(signInCookie, first)
		require.Equal(t, "Sign in", thief.get(s.web()).title())
	})
}

func TestOddRequests(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.web())
		action, fields := p.form("password")
		fields.Set("password", strings.Repeat("x", 70<<10))
		require.Equal(t, http.StatusBadRequest, b.post(action, fields).StatusCode, "too large")
		require.Equal(t, http.StatusNotFound, b.get("/signin/nothing").StatusCode)
		require.Equal(t, http.StatusNotFound, b.get("/signin/password").StatusCode, "is for forms")

		p = b.get(b.get(s.web()).Find("link[rel=stylesheet]").AttrOr("href", ""))
		require.Equal(t, "text/css; charset=utf-8", p.Header.Get("Content-Type"))
		require.Contains(t, p.Header.Get("Cache-Control"), "immutable")
		require.Equal(t, "nosniff", p.Header.Get("X-Content-Type-Options"))
		require.Equal(t, http.StatusNotFound, b.get("/signin/static/nothing.css").StatusCode)
		require.Equal(t, http.StatusNotFound, b.get("/signin/static/../pages/layout.html").StatusCode)
	})
}

// Only pages of the own account can be returned to.
func TestOpenRedirect(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, to := range []string{
			"https://evil.test/account/", "//evil.test/account/", `/\evil.test/account/`, `\\evil.test`, "/account/../evil", "/account/%2e%2e/x",
			"/oauth2/authorize", "account/mfa", "javascript:alert(1)", "/account/./mfa", "https:/account/mfa", "/account//evil.test",
		} {
			require.Equal(t, http.StatusGone, s.browser().get("/signin?return="+url.QueryEscape(to)).StatusCode, to)
		}
		p := s.browser().get("/account/mfa")
		require.Equal(t, "Sign in", p.title())
		require.Equal(t, "Add a second factor", p.signInAs(s.agent()).title())
	})
}
