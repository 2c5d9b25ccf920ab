package signin_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A person signs in, allows the application what it asks for, and is not asked either again.
func TestSignIn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		b := s.browser()
		p := b.get(s.authorize())
		require.Equal(t, http.StatusOK, p.StatusCode)
		require.Equal(t, "Sign in", p.title())
		require.Contains(t, p.Find(".intro").Text(), "Report Builder")

		p = p.signInAs(s.agent())
		require.Equal(t, "Allow Report Builder?", p.title())
		require.Equal(t, []string{"Know that it is you", "See your e-mail address", "See and change requests and tasks"}, texts(p, ".allows li"))
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
	})
}
