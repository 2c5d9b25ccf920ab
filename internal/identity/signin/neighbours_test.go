package signin_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// told returns what company B's log says, and the user there as it is.
func (s *site) toldB(u *ent.User) ([]string, *ent.User) {
	s.t.Helper()
	rows, err := s.Store.Reader().AuditEntry.Query().Where(auditentry.ActionIn("session.created", "factor.created", "factor.deleted")).
		Order(auditentry.ByID()).All(s.As(s.B, principal.Owner))
	require.NoError(s.t, err)
	out := []string{}
	for _, e := range rows {
		out = append(out, e.Action+" "+string(e.Outcome))
	}
	now, err := s.Store.Reader().User.Get(s.system(), u.ID)
	require.NoError(s.t, err)
	return out, now
}

// wrong gives a wrong password at an address.
func (s *site) wrong(at string) {
	s.t.Helper()
	require.Equal(s.t, http.StatusUnprocessableEntity, s.browser().get(at).submit("email", s.agent().Email, "password", "wrong").StatusCode)
}

// Whoever merely invites somebody, or has parted with them, hears nothing of how they sign in.
func TestAccountEventsStayWithCompanies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		there := s.join(user.StatusInvited)
		for _, status := range []user.Status{user.StatusInvited, user.StatusDeactivated} {
			s.setStatus(there.ID, status)
			s.wrong(s.web())
			s.wrong(s.authorize())
			s.wrong(origin + "/signin?return=/account/mfa")
		}
		require.Equal(t, []string{"denied", "denied", "denied", "denied", "denied", "denied"}, s.audited("session.created"))
		app, _ := s.enrolled(s.agent())
		require.Equal(t, http.StatusUnprocessableEntity, s.browser().get(s.web()).signInAs(s.agent()).submit("code", "000000").StatusCode)
		require.NotEmpty(t, app.now())
		told, now := s.toldB(there)
		require.Empty(t, told)
		require.False(t, now.MfaEnabled)
		require.Equal(t, []string{"allowed"}, s.audited("factor.created"))
	})
}

// A wrong password is told to the company whose application asked for it. Where none did, and the person is active in
// several, nobody is told.
func TestFailedProofsAreToldToOneCompany(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		there := s.join(user.StatusActive)
		s.wrong(s.web())
		s.wrong(origin + "/signin?return=/account/mfa")
		require.Empty(t, s.audited("session.created"))
		s.wrong(s.authorize())
		require.Equal(t, []string{"denied"}, s.audited("session.created"))
		told, _ := s.toldB(there)
		require.Empty(t, told)

		foreign := testkit.Run(t, s.World, s.As(s.B, principal.Owner), identity.CreateClient,
			identity.CreateClientInput{Name: "Theirs", RedirectURIs: []string{callback}}).Client
		s.setStatus(there.ID, user.StatusDeactivated)
		s.wrong(s.authorize("client_id", foreign.ID))
		require.Equal(t, []string{"denied"}, s.audited("session.created"), "nor is another company than the client's")
		told, _ = s.toldB(there)
		require.Empty(t, told)
	})
}

// A stranger's invitation does not get in the way of an application that asks without asking the person anything.
func TestInvitationsAskNothingOfSilentSignIns(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		require.NotEmpty(t, b.get(s.web()).signInAs(s.agent()).left().Get("code"))
		s.join(user.StatusInvited)
		require.NotEmpty(t, b.get(s.web("prompt", "none")).left().Get("code"))
		require.Equal(t, "Choose a company", b.get(s.web()).title())
	})
}
