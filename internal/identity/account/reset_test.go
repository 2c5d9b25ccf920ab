package account_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/throttle"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// forgot asks for a link to set a new password with, in a browser of its own.
func (s *site) forgot(email string) *page {
	s.t.Helper()
	return s.browser().get("/forgot").submit("email", email)
}

// somethingAlive makes a web session and a grant of the user, as if it had signed in with signIn.
func (s *site) somethingAlive(u *ent.User, signIn string) (sessionID, grantID string) {
	s.t.Helper()
	now, hash := s.Clock.Now(), sha256.Sum256([]byte(u.ID+signIn))
	s.change(func(ctx context.Context, tx *store.Tx) error {
		ses, err := tx.Session.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetSignInID(signIn).
			SetTokenHash(hash[:]).SetMethods([]string{"pwd"}).
			SetAuthenticatedAt(now).SetLastSeenAt(now).SetExpiresAt(now.Add(time.Hour)).Save(ctx)
		if err != nil {
			return err
		}
		grt, err := tx.Grant.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetClientID("cli_x").SetSignInID(signIn).
			SetScopes([]string{"openid"}).SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetExpiresAt(now.Add(time.Hour)).Save(ctx)
		if err != nil {
			return err
		}
		sessionID, grantID = ses.ID, grt.ID
		return nil
	})
	return sessionID, grantID
}

// alive tells which of a session and a grant go on.
func (s *site) alive(sessionID, grantID string) [2]bool {
	s.t.Helper()
	ses, err := s.Store.Reader().Session.Get(s.system(), sessionID)
	require.NoError(s.t, err)
	grt, err := s.Store.Reader().Grant.Get(s.system(), grantID)
	require.NoError(s.t, err)
	return [2]bool{ses.EndedAt == nil, grt.RevokedAt == nil}
}

// Forgotten: the mailed link leads to a form, which sets the password once and ends all that the old one had opened.
func TestReset(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u, other := s.member(), s.A.Users[principal.Agent]
		in, others := s.signedIn(u, old), s.signedIn(other, old)
		ses, grt := s.somethingAlive(u, "sgn_a")
		theirs, theirGrant := s.somethingAlive(other, "sgn_b")
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.Create().SetCompanyID(s.A.Sandbox.ID).SetAccountID(u.AccountID).SetLiveUserID(u.ID).SetEmail(u.Email).SetName(u.Name).Exec(ctx)
		})

		require.Equal(t, http.StatusOK, s.forgot(" "+strings.ToUpper(u.Email)).StatusCode)
		link := s.lastLink(u.Email)
		require.True(t, strings.HasPrefix(link, "/reset?token="), link)
		require.Equal(t, []string{"Set a new password"}, s.subjects(u.Email))

		b := s.browser()
		for range 3 { // as programs do that check mails
			p := b.get(link)
			require.Equal(t, http.StatusOK, p.StatusCode)
			require.Equal(t, "no-referrer", p.Header.Get("Referrer-Policy"))
			require.Equal(t, "no-store", p.Header.Get("Cache-Control"))
			require.Contains(t, p.Header.Get("Content-Security-Policy"), "default-src 'none'")
		}
		require.Contains(t, b.get(link).submit("password", "short").faults(), "at least 8")
		require.Contains(t, b.get(link).submit("password", "password1").faults(), "too common")
		require.Contains(t, b.get(link).submit("password", u.Email).faults(), "more than your name")
		require.True(t, s.opens(u, old))

		done := b.get(link).submit("password", fresh)
		require.Equal(t, http.StatusOK, done.StatusCode, done.html)
		require.Equal(t, "Your new password is set", done.title())
		require.Equal(t, origin+"/login", done.Find("a.button").AttrOr("href", ""))
		require.True(t, s.opens(u, fresh))
		require.NotNil(t, s.account(u).PasswordChangedAt)

		require.Equal(t, "Sign in", in.get("/account").title(), "signed out at the hosted pages")
		require.Equal(t, [2]bool{false, false}, s.alive(ses, grt))
		people, err := s.Store.Reader().User.Query().Where(user.AccountID(u.AccountID), user.SignedOutAtNotNil()).Count(s.system())
		require.NoError(t, err)
		require.Equal(t, 2, people, "in the sandbox as well")
		require.Equal(t, "Your account", others.get("/account").title(), "nobody else is signed out")
		require.Equal(t, [2]bool{true, true}, s.alive(theirs, theirGrant))
		require.Nil(t, s.user(other).SignedOutAt)

		require.Equal(t, []string{"Set a new password", "Your password was changed"}, s.subjects(u.Email))
		entry := s.entries(s.A.Company.ID, "user.password_reset")
		require.Len(t, entry, 1)
		require.Equal(t, []string{u.ID, u.ID, "rid_test", "127.0.0.1"}, []string{entry[0].ActorID, *entry[0].ResourceID, entry[0].RequestID, entry[0].IP})
		require.Empty(t, s.entries(s.B.Company.ID, "user.password_reset"))

		requireDead(t, b.get(link))
		requireDead(t, b.post("/reset", formOf(done.b.get("/forgot"), "token", strings.TrimPrefix(link, "/reset?token="), "password", "another fine otter 7")))
		require.True(t, s.opens(u, fresh))
		s.signedIn(u, fresh)
	})
}

// formOf returns a form of other fields that the page's browser may send.
func formOf(p *page, values ...string) url.Values {
	form := url.Values{"csrf": {p.Find("[name=csrf]").AttrOr("value", "")}}
	for i := 0; i+1 < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	return form
}

// Setting the password ends every other link that could set it, whichever was mailed last.
func TestResetEndsOlderLinks(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		for range 3 {
			s.forgot(u.Email)
		}
		all := s.links(u.Email)
		require.Len(t, all, 3)
		require.Equal(t, http.StatusOK, s.browser().get(all[1]).submit("password", fresh).StatusCode)
		for _, link := range all {
			requireDead(t, s.browser().get(link))
		}
	})
}

func TestResetAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.forgot(s.member().Email)
		p := s.browser().get(s.lastLink(s.member().Email))
		require.Equal(t, 1, p.atOnce(5, "password", fresh))
		require.Len(t, s.entries(s.A.Company.ID, "user.password_reset"), 1)
		require.Equal(t, []string{"Set a new password", "Your password was changed"}, s.subjects(s.member().Email))
	})
}

func TestResetLinkExpires(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.forgot(s.member().Email)
		link := s.lastLink(s.member().Email)
		b := s.browser()
		s.later(29 * time.Minute)
		p := b.get(link)
		require.Equal(t, http.StatusOK, p.StatusCode)
		s.later(2 * time.Minute)
		requireDead(t, b.get(link))
		requireDead(t, p.submit("password", fresh))
		require.True(t, s.opens(s.member(), old))
	})
}

// A link opens the page that it was mailed for, and no text but a link's does.
func TestLinksAreNotMadeUp(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.forgot(s.member().Email)
		token := strings.TrimPrefix(s.lastLink(s.member().Email), "/reset?token=")
		b := s.browser()
		for _, path := range []string{
			"/reset", "/reset?token=", "/reset?token=x", "/reset?token=" + strings.Repeat("A", 43), "/reset?token=" + token + "=",
			"/reset?token=" + token[:42], "/reset?token=" + strings.ToLower(token), "/reset?token=" + token + "%00",
			"/invitation?token=" + token, "/account/invitation?token=" + token, "/account/email/confirm?token=" + token,
		} {
			requireDead(t, b.get(path))
		}
		require.Equal(t, http.StatusOK, b.get("/reset?token="+token).StatusCode)
	})
}

// Nobody learns from the answer who has an account; only the mailbox does.
func TestForgotTellsNothing(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		deactivated := s.A.Users[principal.Agent]
		testkit.Run(t, s.World, s.As(s.A, principal.Owner), people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: deactivated.ID}})
		var first *page
		for _, email := range []string{s.member().Email, "nobody@x.test", deactivated.Email, s.B.Owner.Email, "someone-else@nowhere.test"} {
			p := s.forgot(email)
			if first == nil {
				first = p
				continue
			}
			require.Equal(t, first.StatusCode, p.StatusCode)
			require.Equal(t, first.html, p.html)
			for _, h := range []string{"Date", "Set-Cookie"} {
				p.Header.Del(h)
				first.Header.Del(h)
			}
			require.Equal(t, first.Header, p.Header)
		}
		require.Len(t, s.links(s.member().Email), 1)
		require.Empty(t, s.mails("nobody@x.test"))
		for _, faulty := range []string{"", "nobody", "a@b, c@d", "Ada <ada@x.test>", "a@x.test\r\nBcc: eve@x.test", strings.Repeat("a", 260) + "@x.test", "a\x00@x.test"} {
			require.Equal(t, http.StatusUnprocessableEntity, s.forgot(faulty).StatusCode, "%q", faulty)
		}
	})
}

// An address gets a few mails an hour, and asking for more looks the same. A network that asks on and on is told to
// wait, and writes nothing more.
func TestForgotIsLimited(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u, b := s.member(), s.browser()
		p := b.get("/forgot")
		first := p.submit("email", u.Email)
		for i := range 7 {
			if i == 4 {
				require.Len(t, s.links(u.Email), 5)
			}
			again := p.submit("email", u.Email)
			require.Equal(t, http.StatusOK, again.StatusCode)
			require.Equal(t, first.html, again.html)
		}
		require.Len(t, s.links(u.Email), 5)
		s.later(61 * time.Minute)
		p.submit("email", u.Email)
		require.Len(t, s.links(u.Email), 6, "the next hour")

		for i := 1; i < 60; i++ {
			require.Equal(t, http.StatusOK, p.submit("email", fmt.Sprintf("p%d@x.test", i)).StatusCode)
		}
		rows := s.throttles()
		refused := p.submit("email", s.B.Owner.Email)
		require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
		require.Equal(t, rows, s.throttles())
		require.Empty(t, s.mails(s.B.Owner.Email))
		for _, row := range rows {
			require.NotContains(t, row, u.Email, "addresses are not kept in the clear")
		}
	})
}

// throttles returns the counters of mails.
func (s *site) throttles() (out []string) {
	s.t.Helper()
	rows, err := s.Store.Reader().Throttle.Query().Order(throttle.ByID()).All(s.system())
	require.NoError(s.t, err)
	for _, row := range rows {
		if strings.HasPrefix(row.ID, "mail/") {
			out = append(out, fmt.Sprint(row.ID, " ", row.Failures))
		}
	}
	return out
}

// Who was locked out by somebody else's guesses gets in again by a new password.
func TestResetForgivesGuesses(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		p := s.browser().get("/account")
		for range 25 {
			p.submit("email", u.Email, "password", "wrong")
		}
		require.Equal(t, http.StatusTooManyRequests, p.submit("email", u.Email, "password", old).StatusCode)
		s.forgot(u.Email)
		s.browser().get(s.lastLink(u.Email)).submit("password", fresh)
		s.signedIn(u, fresh)
	})
}

// Forms come from this site, from the browser that was shown them.
func TestForgery(t *testing.T) {
	t.Parallel()
	s := serve(t, testkit.SQLiteWorld(t), nil)
	b, u := s.browser(), s.member()
	_, fields := b.get("/forgot").form("email")
	fields.Set("email", u.Email)
	require.Equal(t, http.StatusForbidden, s.browser().post("/forgot", fields).StatusCode, "another browser's form")
	for name, spoil := range map[string]func(*http.Request){
		"another site":   func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") },
		"another origin": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
	} {
		require.Equal(t, http.StatusForbidden, b.post("/forgot", fields, spoil).StatusCode, name)
	}
	for _, path := range []string{"/forgot", "/reset", "/invitation", "/account/invitation", "/account/password", "/account/email", "/account/email/confirm"} {
		require.Equal(t, http.StatusForbidden, b.post(path, url.Values{"email": {u.Email}, "csrf": {"x"}}).StatusCode, path)
	}
	// A page that tells nobody its address has its forms sent with the origin null.
	own := func(r *http.Request) { r.Header.Set("Origin", "null"); r.Header.Set("Sec-Fetch-Site", "same-origin") }
	require.Equal(t, http.StatusOK, b.post("/forgot", fields, own).StatusCode)
	require.Len(t, s.links(u.Email), 1, "one of all these was the person's own")
	require.Equal(t, http.StatusNotFound, b.get("/signup").StatusCode, "closed unless the operator opens it")
	require.Equal(t, http.StatusNotFound, b.get("/account/nothing").StatusCode)
}

// What lies in the queue tells nobody who asked, nor the link.
func TestRequestsAreSealed(t *testing.T) {
	t.Parallel()
	s := serve(t, testkit.SQLiteWorld(t), nil)
	s.forgot(s.member().Email)
	link := s.lastLink(s.member().Email)
	db, err := store.OpenSQLiteFile(s.Store.Path())
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // only read
	var n int
	for _, secret := range []string{s.member().Email, strings.TrimPrefix(link, "/reset?token=")} {
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM river_job WHERE instr(CAST(args AS TEXT), ?) > 0 OR instr(COALESCE(CAST(errors AS TEXT), ''), ?) > 0", secret, secret).Scan(&n))
		require.Zero(t, n)
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM mailed_links WHERE instr(token_hash, ?) > 0", secret).Scan(&n))
		require.Zero(t, n)
	}
}
