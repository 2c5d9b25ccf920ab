package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent/signin"
	"atrium/ent/user"
	"atrium/internal/identity/account"
	pages "atrium/internal/identity/signin"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Nobody looks after an account without having signed in of late.
func TestOwnPagesTakeASignIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.signedIn(s.member(), old)
		for _, path := range []string{"/account", "/account/password", "/account/email"} {
			require.Equal(t, "Sign in", s.browser().get(path).title(), path)
			require.NotEqual(t, "Sign in", b.get(path).title(), path)
		}
		p := b.get("/account/password")
		s.later(31 * time.Minute)
		for _, path := range []string{"/account", "/account/password", "/account/email"} {
			require.Equal(t, "Sign in", b.get(path).title(), path)
		}
		p.submit("current", old, "password", fresh)
		require.True(t, s.opens(s.member(), old), "a form that was left open for long")
		require.Equal(t, "Change your password", b.get("/account/password").submit("email", s.member().Email, "password", old).title(), "and back to where one was")
	})
}

func TestOverview(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.Create().SetCompanyID(s.B.Company.ID).SetAccountID(u.AccountID).SetEmail(u.Email).SetName("M").SetStatus(user.StatusInvited).Exec(ctx)
		})
		p := s.signedIn(u, old).get("/account")
		require.Equal(t, u.Email, strings.TrimSpace(p.Find(".who").Text()))
		require.Equal(t, 1, p.Find(".factor").Length(), "one company: an invitation is no membership yet")
		require.Contains(t, p.Find(".factor").Text(), "member")
		p.submit("csrf")
		require.Equal(t, "Sign in", p.b.get("/account").title(), "signed out")
	})
}

// The old password sets a new one, which ends everything but this browser and what came from it.
func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		here, elsewhere := s.signedIn(u, old), s.signedIn(u, old)
		rows, err := s.Store.Reader().SignIn.Query().Where(signin.AccountID(u.AccountID)).Order(signin.ByID()).All(s.system())
		require.NoError(t, err)
		require.Len(t, rows, 2)
		mine, myGrant := s.somethingAlive(u, rows[0].ID)
		other, otherGrant := s.somethingAlive(u, rows[1].ID)
		s.forgot(u.Email)
		link := s.lastLink(u.Email)

		p := here.get("/account/password")
		require.Contains(t, p.submit("current", "wrong", "password", fresh).faults(), "not your password")
		require.Contains(t, p.submit("current", old, "password", "short").faults(), "at least 8")
		require.True(t, s.opens(u, old))
		require.Equal(t, "Your password is changed", p.submit("current", old, "password", fresh).title())
		require.True(t, s.opens(u, fresh))
		require.Equal(t, "Your account", here.get("/account").title())
		require.Equal(t, "Sign in", elsewhere.get("/account").title())
		require.Equal(t, [2]bool{true, true}, s.alive(mine, myGrant))
		require.Equal(t, [2]bool{false, false}, s.alive(other, otherGrant))
		require.Nil(t, s.user(u).SignedOutAt, "this would have ended this browser's session, too")
		requireDead(t, here.get(link))
		require.Equal(t, []string{"Set a new password", "Your password was changed"}, s.subjects(u.Email))
		require.Len(t, s.entries(s.A.Company.ID, "user.password_changed"), 1)
	})
}

func TestChangePasswordAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.signedIn(s.member(), old).get("/account/password")
		require.Equal(t, 1, p.atOnce(4, "current", old, "password", fresh))
		require.Len(t, s.entries(s.A.Company.ID, "user.password_changed"), 1)
	})
}

// Guessing the old password is no better than guessing at the sign-in.
func TestChangePasswordIsThrottled(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		p := s.signedIn(s.member(), old).get("/account/password")
		var refused *page
		for range 40 {
			if refused = p.submit("current", "wrong", "password", fresh); refused.StatusCode == http.StatusTooManyRequests {
				break
			}
		}
		require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
		require.Equal(t, http.StatusTooManyRequests, p.submit("current", old, "password", fresh).StatusCode)
		require.True(t, s.opens(s.member(), old))
	})
}

// The new address is confirmed by its mailbox and by the account that asked, and then holds everywhere.
func TestChangeEmail(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.member()
		s.change(func(ctx context.Context, tx *store.Tx) error {
			for _, c := range []string{s.A.Sandbox.ID, s.B.Company.ID} {
				if err := tx.User.Create().SetCompanyID(c).SetAccountID(u.AccountID).SetEmail(u.Email).SetName("M").SetAcceptedAt(s.Clock.Now()).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		b := s.signedIn(u, old)
		p := b.get("/account/email")
		require.Contains(t, p.submit("email", "nobody").faults(), "Enter an e-mail address")
		require.Contains(t, p.submit("email", strings.ToUpper(u.Email)).faults(), "already")
		require.Equal(t, http.StatusOK, p.submit("email", "first@new.test").StatusCode)
		first := s.lastLink("first@new.test")
		require.Equal(t, http.StatusOK, p.submit("email", " New@New.test ").StatusCode)
		link := s.lastLink("new@new.test")
		require.Equal(t, []string{"Your e-mail address is to be changed", "Your e-mail address is to be changed"}, s.subjects(u.Email))
		requireDead(t, b.get(first))

		require.Equal(t, "Sign in", s.browser().get(link).title(), "the mailbox alone is not enough")
		require.Equal(t, http.StatusForbidden, s.signedIn(s.A.Users[principal.Agent], old).get(link).StatusCode)
		s.forgot(u.Email)
		reset := s.lastLink(u.Email)
		confirm := b.get(link)
		require.Equal(t, "no-referrer", confirm.Header.Get("Referrer-Policy"))
		require.Equal(t, u.Email, s.account(u).Email, "looking changes nothing")
		require.Equal(t, "Your e-mail address is changed", confirm.submit("token").title())

		require.Equal(t, "new@new.test", s.account(u).Email)
		addresses, err := s.Store.Reader().User.Query().Where(user.AccountID(u.AccountID)).Select(user.FieldEmail).Strings(s.system())
		require.NoError(t, err)
		require.Equal(t, []string{"new@new.test", "new@new.test", "new@new.test"}, addresses)
		require.Contains(t, s.subjects(u.Email), "Your e-mail address was changed", "the old address is told")
		requireDead(t, s.browser().get(reset))
		requireDead(t, b.get(link))
		for _, c := range []string{s.A.Company.ID, s.B.Company.ID} {
			entries := s.entries(c, "user.email_changed")
			require.Len(t, entries, 1)
			require.JSONEq(t, `{"email": {"from": "`+u.Email+`", "to": "new@new.test"}}`, string(entries[0].Changes))
		}
		s.signedIn(u, old)
		require.Equal(t, "Your account", b.get("/account").title(), "nobody was signed out")
	})
}

func TestChangeEmailAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.signedIn(s.member(), old)
		b.get("/account/email").submit("email", "new@new.test")
		require.Equal(t, 1, b.get(s.lastLink("new@new.test")).atOnce(4, "token"))
		require.Len(t, s.entries(s.A.Company.ID, "user.email_changed"), 1)
	})
}

// An address that somebody else signs in with is refused, but only to who reads its mails; then nothing is changed.
func TestChangeEmailToAnothers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u, other := s.member(), s.B.Owner
		b := s.signedIn(u, old)
		free := b.get("/account/email").submit("email", "free@new.test")
		taken := b.get("/account/email").submit("email", other.Email)
		require.Equal(t, free.html, taken.html)
		p := b.get(s.lastLink(other.Email)).submit("token")
		require.Equal(t, http.StatusConflict, p.StatusCode)
		require.Equal(t, "The address is in use", p.title())
		require.Equal(t, u.Email, s.account(u).Email)
		require.Equal(t, u.Email, s.user(u).Email)
		require.Equal(t, other.Email, s.account(other).Email)
		require.Empty(t, s.entries(s.A.Company.ID, "user.email_changed"))
	})
}

func TestChangeEmailExpires(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.signedIn(s.member(), old)
		b.get("/account/email").submit("email", "new@new.test")
		link := s.lastLink("new@new.test")
		s.later(61 * time.Minute)
		requireDead(t, b.get(link))
		for range 7 {
			s.signedIn(s.member(), old).get("/account/email").submit("email", "new@new.test")
		}
		require.Len(t, s.links("new@new.test"), 6, "a mailbox is not flooded by somebody who is signed in, either")
	})
}

// Every notice has words, and is one more mail in the transaction that it is about.
func TestNotify(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		kinds := map[string]string{
			account.PasswordChanged: "Your password was changed", pages.FactorAdded: "A second factor was added to your account",
			pages.FactorRemoved: "A second factor was removed from your account", pages.CodesRenewed: "You have new recovery codes",
			pages.CodeUsed: "A recovery code was used", pages.FactorsReset: "Your second factors were removed",
		}
		var want []string
		for kind, subject := range kinds {
			want = append(want, subject)
			// In an operation's transaction, which is bound to a company.
			require.NoError(t, s.Store.Write(s.As(s.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
				return s.Engine.Mailer.Notify(ctx, tx, s.member().AccountID, kind)
			}))
		}
		require.ElementsMatch(t, want, s.subjects(s.member().Email))
		require.Contains(t, s.mails(s.member().Email)[0].text, origin+"/forgot\n")
		require.Error(t, s.Store.Write(s.system(), func(ctx context.Context, tx *store.Tx) error {
			return s.Engine.Mailer.Notify(ctx, tx, s.member().AccountID, "weather")
		}))
		require.Error(t, s.Store.Write(s.system(), func(ctx context.Context, tx *store.Tx) error {
			return s.Engine.Mailer.Notify(ctx, tx, "acc_none", account.PasswordChanged)
		}))
	})
}

// An account that has never had a password gets one by the mailbox.
func TestFirstPasswordByReset(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.AddUser(t, s.A, "bare@x.test", principal.Member)
		s.forgot(u.Email)
		link := s.lastLink(u.Email)
		require.True(t, strings.HasPrefix(link, "/reset?"), "active, and so not invited")
		require.Equal(t, http.StatusOK, s.browser().get(link).submit("password", fresh).StatusCode)
		require.True(t, s.opens(u, fresh))
	})
}
