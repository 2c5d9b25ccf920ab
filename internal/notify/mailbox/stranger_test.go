package mailbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/inboundmail"
	"atrium/internal/notify/mailbox"
	"atrium/internal/test/testkit"
)

// Several messages that a stranger sends at once are requests of one member, who is invited once.
func TestStrangerInAHurry(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		d := open(t, w, func(in *mailbox.CreateInput) { in.UnknownSenders = new("create") })
		d.dns.slow = make(chan struct{})
		d.work()
		for n := range 2 { // as many as are worked at once
			require.NoError(t, d.send(mail{from: "slow-eve@out.test", id: fmt.Sprintf("%d@x", n), subject: "Hello", body: "Me."}))
		}
		require.Eventually(t, func() bool { return d.dns.waiting.Load() == 2 }, patience, tick)
		close(d.dns.slow)
		var of [2]string
		for n := range of {
			of[n] = d.request(*d.came(fmt.Sprintf("%d@x", n), inboundmail.OutcomeREQUEST).RequestID).RequesterID
		}
		require.Equal(t, of[0], of[1])
	})
}
