package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

const newcomer = "grace@navy.test"

// invite invites somebody into company A.
func (s *site) invite(email string) *ent.User {
	s.t.Helper()
	return testkit.Run(s.t, s.World, s.As(s.A, principal.Admin), people.InviteUser, people.InviteUserInput{Email: email})
}

// A newcomer follows the mailed link, says name and password, and is a member who can sign in.
func TestInvitation(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.invite("Grace@Navy.test")
		mails := s.mails(newcomer)
		require.Len(t, mails, 1)
		require.Equal(t, "You are invited to Acme", mails[0].Get("Subject"))
		require.Contains(t, mails[0].text, "Hello grace,")
		link := s.lastLink(newcomer)
		require.True(t, strings.HasPrefix(link, "/invitation?token="), link)

		b := s.browser()
		p := b.get(link)
		require.Equal(t, "You are invited to Acme", p.title())
		require.Equal(t, "no-referrer", p.Header.Get("Referrer-Policy"))
		require.Equal(t, "grace", p.Find("#name").AttrOr("value", ""))
		require.Contains(t, p.submit("password", fresh, "name", " ").faults(), "Enter your name")
		require.Contains(t, p.submit("password", "short", "name", "Grace").faults(), "at least 8")
		require.Contains(t, p.submit("password", "GraceHopper1906"[:11], "name", "Grace Hopper").faults(), "more than your name")
		require.Equal(t, user.StatusInvited, s.user(u).Status)

		done := p.submit("password", fresh, "name", " Grace \t Hopper ")
		require.Equal(t, "Welcome to Acme", done.title(), done.html)
		after := s.user(u)
		require.Equal(t, []string{"active", "Grace Hopper"}, []string{string(after.Status), after.Name})
		require.True(t, s.opens(u, fresh))
		entries := s.entries(s.A.Company.ID, "user.updated")
		require.Len(t, entries, 1)
		require.Equal(t, u.ID, entries[0].ActorID)
		require.JSONEq(t, `{"status": {"from": "invited", "to": "active"}, "name": {"from": "grace", "to": "Grace Hopper"}}`, string(entries[0].Changes))

		requireDead(t, b.get(link))
		requireDead(t, p.submit("password", "another fine otter 7", "name", "Eve"))
		require.True(t, s.opens(u, fresh))
		s.signedIn(u, fresh)
		require.Equal(t, []string{"You are invited to Acme"}, s.subjects(newcomer), "a first password is no change of one")
	})
}

func TestInvitationAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.invite(newcomer)
		require.Equal(t, 1, s.browser().get(s.lastLink(newcomer)).atOnce(5, "password", fresh, "name", "Grace"))
		require.Len(t, s.entries(s.A.Company.ID, "user.updated"), 1)
	})
}

// An invitation that is refused mails nothing.
func TestRefusedInvitationMailsNothing(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for email, code := range map[string]apperr.Code{s.member().Email: apperr.Conflict, "a..b@x.test": apperr.Validation, "x@\x7f.test": apperr.Validation} {
			_, _, err := op.Run(s.As(s.A, principal.Admin), s.Engine, people.InviteUser, people.InviteUserInput{Email: email}, nil)
			require.Equal(t, code, apperr.CodeOf(err), "%s: %v", email, err)
		}
		require.Empty(t, s.mails(s.member().Email))
	})
}

// Links end after a week, with the next one that is mailed, with the deactivation of the user, and a mail that was
// asked for by somebody who has no password yet is the invitation again.
func TestInvitationLinks(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.invite(newcomer)
		owner := s.As(s.A, principal.Owner)
		first := s.lastLink(newcomer)
		testkit.Run(t, s.World, owner, people.ResendInvitation, op.ByID{ID: u.ID})
		second := s.lastLink(newcomer)
		requireDead(t, s.browser().get(first))
		require.Equal(t, http.StatusOK, s.browser().get(second).StatusCode)
		require.Equal(t, []string{"allowed", "allowed"}, outcomes(s.entries(s.A.Company.ID, "user.invited")))

		s.forgot(newcomer)
		third := s.lastLink(newcomer)
		require.True(t, strings.HasPrefix(third, "/invitation?"), third)
		requireDead(t, s.browser().get(second))
		s.later(7*24*time.Hour - time.Minute)
		p := s.browser().get(third)
		require.Equal(t, http.StatusOK, p.StatusCode)
		s.later(2 * time.Minute)
		requireDead(t, p.submit("password", fresh, "name", "Grace"))

		testkit.Run(t, s.World, owner, people.ResendInvitation, op.ByID{ID: u.ID})
		p = s.browser().get(s.lastLink(newcomer))
		require.Equal(t, http.StatusOK, p.StatusCode)
		testkit.Run(t, s.World, owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: u.ID}})
		requireDead(t, p.submit("password", fresh, "name", "Grace"))
		require.Equal(t, user.StatusDeactivated, s.user(u).Status)
		require.Empty(t, s.account(u).PasswordHash)
	})
}

func outcomes(rows []*ent.AuditEntry) (out []string) {
	for _, r := range rows {
		out = append(out, string(r.Outcome))
	}
	return out
}

// Only those who wait are invited again, by who may invite, and not for ever.
func TestResendInvitation(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		u := s.invite(newcomer)
		resend := func(ctx context.Context, id string) apperr.Code {
			_, _, err := op.Run(ctx, s.Engine, people.ResendInvitation, op.ByID{ID: id}, nil)
			if err == nil {
				return ""
			}
			return apperr.CodeOf(err)
		}
		admin := s.As(s.A, principal.Admin)
		require.Equal(t, apperr.Forbidden, resend(s.As(s.A, principal.Agent), u.ID))
		require.Equal(t, apperr.NotFound, resend(s.As(s.B, principal.Owner), u.ID))
		require.Equal(t, apperr.Conflict, resend(admin, s.member().ID))
		for range 4 {
			require.Empty(t, resend(admin, u.ID))
		}
		require.Equal(t, apperr.RateLimited, resend(admin, u.ID))
		require.Len(t, s.links(newcomer), 5)
		s.later(61 * time.Minute)
		require.Empty(t, resend(admin, u.ID))
	})
}

// Whoever has a password already proves to be its owner by signing in; the link alone changes no password.
func TestInvitationOfAnAccount(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		guest := s.B.Users[principal.Agent]
		u := s.invite(guest.Email)
		link := s.lastLink(guest.Email)
		b := s.browser()
		p := b.get(link)
		require.Zero(t, p.Find("input[type=password]").Length(), p.html)
		require.Equal(t, http.StatusSeeOther, s.postRaw(b, "/invitation", "token", strings.TrimPrefix(link, "/invitation?token="), "password", fresh, "name", "X"))
		require.True(t, s.opens(guest, old))

		// Somebody else cannot accept it.
		accept := "/account" + link
		otherAccount := s.signedIn(s.member(), old)
		require.Equal(t, http.StatusForbidden, otherAccount.get(accept).StatusCode)
		require.Equal(t, user.StatusInvited, s.user(u).Status)

		p = b.get(p.Find("a.button").AttrOr("href", "")).submit("email", guest.Email, "password", old)
		require.Equal(t, "You are invited to Acme", p.title(), p.html)
		require.Equal(t, user.StatusInvited, s.user(u).Status, "looking at it accepts nothing")
		require.Equal(t, "Welcome to Acme", p.submit("token").title())
		require.Equal(t, user.StatusActive, s.user(u).Status)
		require.Equal(t, guest.Email, s.user(u).Email)
		require.True(t, s.opens(guest, old))
		requireDead(t, b.get(accept))
		requireDead(t, b.get(link))
	})
}

// postRaw posts fields that no page has shown, with the browser's own form token, and returns the status of the answer
// itself.
func (s *site) postRaw(b *browser, path string, values ...string) int {
	s.t.Helper()
	form := formOf(b.get("/forgot"), values...)
	client := b.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return (&browser{s, client}).post(path, form).StatusCode
}

// Of two companies that invite the same newcomer, the first accepted sets the password; the second takes a sign-in.
func TestTwoInvitations(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a := s.invite(newcomer)
		b := testkit.Run(t, s.World, s.As(s.B, principal.Owner), people.InviteUser, people.InviteUserInput{Email: newcomer})
		links := s.links(newcomer)
		require.Len(t, links, 2)
		late := s.browser().get(links[1])
		require.Equal(t, http.StatusOK, s.browser().get(links[0]).submit("password", fresh, "name", "Grace").StatusCode)
		p := late.submit("password", "another fine otter 7", "name", "Eve")
		require.Contains(t, p.html, "Sign in to accept")
		require.True(t, s.opens(a, fresh))
		require.Equal(t, []user.Status{user.StatusActive, user.StatusInvited}, []user.Status{s.user(a).Status, s.user(b).Status})
		require.Equal(t, http.StatusOK, s.signedIn(b, fresh).get("/account"+links[1]).submit("token").StatusCode)
		require.Equal(t, user.StatusActive, s.user(b).Status)
	})
}

// What a company calls itself or its guests adds no header and no line to a mail.
func TestInvitationCannotBeForged(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.Update().Where(company.ID(s.A.Company.ID)).SetName("Acme\r\nBcc: eve@x.test\r\n\r\nhttps://evil.test/").Exec(ctx)
		})
		name := "Grace\n\nhttps://evil.test/?token=" + strings.Repeat("A", 43)
		testkit.Run(t, s.World, s.As(s.A, principal.Admin), people.InviteUser, people.InviteUserInput{Email: newcomer, Name: &name})
		mails := s.mails(newcomer)
		require.Len(t, mails, 1)
		require.Empty(t, mails[0].Get("Bcc"))
		require.Equal(t, "You are invited to Acme Bcc: eve x test https: evil test/", mails[0].Get("Subject"))
		for line := range strings.Lines(mails[0].text) {
			require.False(t, strings.HasPrefix(line, "https://") && !strings.HasPrefix(line, origin), line)
		}
		require.Len(t, s.links(newcomer), 1)
	})
}
