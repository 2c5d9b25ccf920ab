package signin_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/throttle"
)

// Text messages are bounded by network and for the installation, those for enrolling apart from those for signing in.
func TestMessagesAreBounded(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		limits := throttle.New(s.Store)
		send := func(network byte, purpose string, i, perDay int) time.Duration {
			t.Helper()
			r := httptest.NewRequest("POST", "/", nil)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", network)
			wait, err := limits.Message(r, purpose, fmt.Sprint("acc_", purpose, network, i), fmt.Sprint("+49151", purpose, network, i), perDay)
			require.NoError(t, err)
			return wait
		}
		for i := range 60 {
			require.Zero(t, send(1, throttle.ToEnrol, i, 1_000))
		}
		require.Positive(t, send(1, throttle.ToEnrol, 60, 1_000))
		require.Zero(t, send(1, throttle.ToSignIn, 0, 1_000), "who signs in waits for nobody who enrols")
		require.Zero(t, send(2, throttle.ToEnrol, 0, 1_000), "another network")
		s.later(61 * time.Minute)
		require.Zero(t, send(1, throttle.ToEnrol, 61, 1_000))

		s.later(25 * time.Hour)
		for i := range 5 {
			require.Zero(t, send(byte(10+i), throttle.ToEnrol, i, 10))
		}
		require.Positive(t, send(20, throttle.ToEnrol, 0, 10), "half of the day's are for signing in")
		for i := range 10 {
			require.Zero(t, send(byte(30+i), throttle.ToSignIn, i, 10))
		}
		require.Positive(t, send(50, throttle.ToSignIn, 0, 10))
		s.later(25 * time.Hour)
		require.Zero(t, send(50, throttle.ToSignIn, 0, 10))
	})
}
