package signin_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/platform/store"
)

// prompt=none asks nothing: it is answered with what would have had to be asked.
func TestPromptNone(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		silent := func(with ...string) string {
			q := b.get(s.authorize(append([]string{"prompt", "none"}, with...)...)).left()
			require.Equal(t, "st", q.Get("state"))
			require.NotEqual(t, q.Get("code") == "", q.Get("error") == "")
			return q.Get("error")
		}
		require.Equal(t, "login_required", silent())
		p := b.get(s.authorize()).signInAs(s.agent())
		require.Equal(t, "consent_required", silent())
		require.NotEmpty(t, p.submit("consent", "allow").left().Get("code"))
		require.Empty(t, silent())
		require.Equal(t, "consent_required", silent("scope", "openid teams:write"))
		require.Empty(t, b.get(s.web("prompt", "none")).left().Get("error"))

		s.later(2 * time.Minute)
		require.Equal(t, "login_required", silent("max_age", "60"))
		require.Empty(t, silent("max_age", "600"))
	})
}

// prompt=login and a max_age that has passed take a new proof, and the tokens say when it was given.
func TestFreshProof(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		first := b.get(s.web()).signInAs(s.agent()).claims().Auth
		s.later(time.Minute)
		require.Equal(t, first, b.get(s.web("max_age", "120")).claims().Auth)
		for _, with := range [][]string{{"prompt", "login"}, {"max_age", "30"}, {"max_age", "0"}} {
			p := b.get(s.web(with...))
			require.Equal(t, "Sign in", p.title(), with)
			require.Contains(t, p.Find(".intro").Text(), "confirm that it is you")
			require.Equal(t, s.agent().Email, p.Find("#email").AttrOr("value", ""))
			again := p.signInAs(s.agent()).claims().Auth
			require.Greater(t, again, first, with)
			first = again
			s.later(time.Minute)
		}
	})
}

// A new proof takes all factors, not the password alone.
func TestFreshProofTakesAllFactors(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		a, _ := s.enrolled(s.agent())
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).submit("code", a.now()).left().Get("code"))
		s.later(time.Minute)
		p := b.get(s.web("prompt", "login")).signInAs(s.agent())
		require.Equal(t, "Confirm that it is you", p.title())
		require.Equal(t, []string{"pwd", "otp", "mfa"}, p.submit("code", a.now()).claims().AMR)
	})
}

// prompt=select_account lets the person go on as who it is, or as somebody else.
func TestSelectAccount(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.web("prompt", "select_account"))
		require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"), "somebody who has just signed in has selected")
		s.later(time.Second)
		p = b.get(s.web("prompt", "select_account"))
		require.Equal(t, "Choose an account", p.title())
		require.Contains(t, p.Find("main").Text(), s.agent().Email)
		require.Equal(t, s.agent().ID, p.goOn().claims().Subject)
		p = b.get(s.web("prompt", "select_account"))
		p = b.get(p.Find("a[href*='as=other']").AttrOr("href", ""))
		require.Equal(t, s.A.Users["member"].ID, p.signInAs(s.A.Users["member"]).claims().Subject)
	})
}

// prompt=consent asks again for what was allowed before; a denial goes back to the client and is not remembered.
func TestConsent(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.authorize()).signInAs(s.agent())
		require.Equal(t, []string{"allow", "deny"}, p.buttons("consent"))
		q := p.submit("consent", "deny").left()
		require.Equal(t, "access_denied", q.Get("error"))
		require.Empty(t, q.Get("code"))
		p = b.get(s.authorize())
		require.Equal(t, "Allow Report Builder?", p.submit("consent", "perhaps").title())
		require.NotEmpty(t, p.submit("consent", "allow").left().Get("code"))
		require.Equal(t, "Allow Report Builder?", b.get(s.authorize("prompt", "consent")).title())
		require.Equal(t, "Allow Report Builder?", b.get(s.authorize("scope", "openid secrets:write offline_access")).title())
		require.NotEmpty(t, b.get(s.authorize()).left().Get("code"))
	})
}

// A person in several companies chooses where to go on in the web application; a company's own application does not ask.
func TestSeveralCompanies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		there := s.join(user.StatusActive)
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, "Choose a company", p.title())
		require.Equal(t, []string{s.agent().ID, there.ID}, p.buttons("user"))
		c := p.submit("user", there.ID).claims()
		require.Equal(t, there.ID, c.Subject)
		require.Equal(t, s.B.Company.ID, c.Company)

		b := s.browser()
		require.Equal(t, s.A.Company.ID, b.get(s.authorize()).signInAs(s.agent()).submit("consent", "allow").claims().Company)
		require.Equal(t, "interaction_required", b.get(s.web("prompt", "none")).left().Get("error"))
		p = b.get(s.web())
		require.Equal(t, "Choose a company", p.submit("user", s.A.Users["owner"].ID).title(), "not as somebody else")
		require.Equal(t, "Choose a company", p.submit("user", "").title())
		require.Equal(t, s.A.Company.ID, p.submit("user", s.agent().ID).claims().Company)

		s.requireMFA()
		p = b.get(s.web()).submit("user", s.agent().ID)
		require.Equal(t, "Set up a second factor", p.title(), "as the chosen company asks")
		require.Equal(t, s.B.Company.ID, b.get(s.web()).submit("user", there.ID).claims().Company, "as the other does not")
	})
}

// Choosing a company that has invited the person accepts.
func TestInvitationIsAccepted(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		there := s.join(user.StatusInvited)
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, []string{"agent", "Accept invitation"}, texts(p, ".choices small"))
		u, err := s.Store.Reader().User.Get(s.system(), there.ID)
		require.NoError(t, err)
		require.Equal(t, user.StatusInvited, u.Status, "not before")
		require.Equal(t, there.ID, p.submit("user", there.ID).claims().Subject)
		u, err = s.Store.Reader().User.Get(s.system(), there.ID)
		require.NoError(t, err)
		require.Equal(t, user.StatusActive, u.Status)
		rows, err := s.Store.Reader().AuditEntry.Query().All(s.As(s.B, "owner"))
		require.NoError(t, err)
		var updated string
		for _, e := range rows {
			if e.Action == "user.updated" && e.ActorID == there.ID {
				updated = string(e.Changes)
			}
		}
		require.JSONEq(t, `{"status": {"from": "invited", "to": "active"}}`, updated)

		s.setStatus(s.agent().ID, user.StatusInvited) // the only company of the client's
		p = s.browser().get(s.authorize()).signInAs(s.agent())
		require.Equal(t, "You are invited", p.title())
		require.Equal(t, "Allow Report Builder?", p.submit("user", s.agent().ID).title())
	})
}

// An account that an import brought, and whose address nobody has proven here, cannot accept by choosing: its password may be that of
// the file's author.
func TestUnprovenAccountChoosesNoInvitation(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.join(user.StatusInvited)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.Account.UpdateOneID(s.agent().AccountID).SetUnprovenSince(s.Clock.Now()).Exec(ctx)
		})
		require.Equal(t, s.A.Company.ID, s.browser().get(s.web()).signInAs(s.agent()).claims().Company)
	})
}

// Who is no active member of the client's company is told so: deactivated people and strangers alike.
func TestNoAccess(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.setStatus(s.agent().ID, user.StatusDeactivated)
		var text string
		for _, u := range []string{s.agent().Email, s.B.Owner.Email} {
			b := s.browser()
			p := b.get(s.authorize()).submit("email", u, "password", secret)
			require.Equal(t, http.StatusForbidden, p.StatusCode)
			require.Equal(t, "You have no access here", p.title())
			now := p.Find("main p:not(.who)").Text()
			require.True(t, text == "" || text == now)
			text = now
			require.Equal(t, "login_required", b.get(s.authorize("prompt", "none")).left().Get("error"))
			require.Equal(t, "access_denied", p.goOn().left().Get("error"))
		}
		p := s.browser().get(s.web()).signInAs(s.agent())
		require.Equal(t, "You have no access here", p.title())
		require.Zero(t, p.Find("form").Length(), "nothing to go back to")
		require.NotContains(t, s.audited("session.created"), "allowed")

		there := s.join(user.StatusActive)
		require.Equal(t, there.ID, s.browser().get(s.web()).signInAs(s.agent()).claims().Subject, "the other company is not offered a choice with this one")
	})
}

// Sandboxes are entered through their companies: a mirror is no membership of its own.
func TestSandboxesAreNotOffered(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		owner := s.A.Owner // mirrored in the sandbox
		require.Equal(t, owner.ID, s.browser().get(s.web()).signInAs(owner).claims().Subject)
	})
}

// Signing out everywhere ends what was proved before, here as well.
func TestSignedOutEverywhere(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		s.later(time.Second)
		s.change(func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(s.agent().ID).SetSignedOutAt(s.Clock.Now()).Exec(ctx)
		})
		s.later(time.Second)
		p := b.get(s.web())
		require.Equal(t, "Sign in", p.title())
		require.NotEmpty(t, p.signInAs(s.agent()).left().Get("code"))
	})
}

// join makes the agent a member of company B, too.
func (s *site) join(status user.Status) (u *ent.User) {
	s.t.Helper()
	s.change(func(ctx context.Context, tx *store.Tx) (err error) {
		c := tx.User.Create().SetCompanyID(s.B.Company.ID).SetAccountID(s.agent().AccountID).SetEmail(s.agent().Email).
			SetName("Agent").SetStatus(status)
		if status != user.StatusInvited {
			c.SetAcceptedAt(s.Clock.Now())
		}
		u, err = c.Save(ctx)
		return err
	})
	return u
}

func (s *site) setStatus(id string, status user.Status) {
	s.t.Helper()
	s.change(func(ctx context.Context, tx *store.Tx) error {
		return tx.User.UpdateOneID(id).SetStatus(status).Exec(ctx)
	})
}
