package mailbox_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/inboundmail"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// What a program sent becomes nothing by itself, because a mailing list or a monitor would be answered. Staff release it, with what it says, and
// nobody gets a receipt; of a mailbox's own mail they do not.
func TestProgramsMailIsReleased(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.As(d.A, principal.Agent)
		require.NoError(t, d.send(mail{from: who.Email, id: "list@x", subject: "Disk full", header: "List-Id: <ops.acme.test>\r\nPrecedence: list\r\n", body: "On db-1."}))
		require.NoError(t, d.send(mail{from: "alerts@monitor.test", id: "alert@x", subject: "Disk full", header: "Auto-Submitted: auto-generated\r\n", body: "On db-2."}))
		require.NoError(t, d.send(mail{from: d.box.Address, id: "self@x", subject: "Disk full", body: "On db-3."}))
		for _, id := range []string{"list@x", "alert@x", "self@x"} {
			m := d.came(id, inboundmail.OutcomeLOOP)
			_, _, err := op.Run(d.As(d.A, principal.Member), d.Engine, mailbox.Release, op.ByID{ID: m.ID}, nil)
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))
			_, _, err = op.Run(staff, d.Engine, mailbox.Refuse, op.ByID{ID: m.ID}, nil)
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "it waits for nobody")
			_, _, err = op.Run(staff, d.Engine, mailbox.Release, op.ByID{ID: m.ID}, nil)
			if id == "self@x" {
				require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "it would answer itself")
				continue
			}
			require.NoError(t, err)
		}
		require.Equal(t, map[inboundmail.Outcome]int{"REQUEST": 1, "HELD": 1, "LOOP": 1}, d.until(map[inboundmail.Outcome]int{"REQUEST": 1, "HELD": 1, "LOOP": 1}))
		released := d.came("list@x", inboundmail.OutcomeREQUEST)
		r := d.request(*released.RequestID)
		require.Equal(t, []string{"Disk full", "On db-1.", who.ID}, []string{r.Title, r.Description, r.RequesterID})
		require.Equal(t, "Its sender is no member. Invite them, and release it.", *d.came("alert@x", inboundmail.OutcomeHELD).Reason)
		for _, j := range d.Unfinished(t, d.A.Company.ID) {
			require.NotContains(t, string(j.Args), "receipt", j.Kind)
		}
		_, _, err := op.Run(staff, d.Engine, mailbox.Release, op.ByID{ID: released.ID}, nil)
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "once")
	})
}

// until waits until so many messages have each outcome.
func (d *desk) until(want map[inboundmail.Outcome]int) (out map[inboundmail.Outcome]int) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		out = map[inboundmail.Outcome]int{}
		for _, m := range d.messages() {
			out[m.Outcome]++
		}
		return maps.Equal(want, out)
	}, patience, tick)
	return out
}
