package notice_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/request"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// A mail that tells what the requester may not read, alone or among other things, says that an answer to it is a note for staff.
func TestMailsOfNotesAreAnsweredByNotes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		c, reader := d.ask("Laptop"), d.A.Users[principal.Admin]
		testkit.Run(t, d.World, d.AsUser(reader), request.Watch, request.WatchInput{ByID: c.by})
		say := func(visibility, body string) {
			testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: body, Visibility: &visibility})
			d.idle()
			d.pass(later)
		}
		notes := func(want ...bool) {
			t.Helper()
			d.mails.mu.Lock()
			defer d.mails.mu.Unlock()
			require.Equal(t, want, d.mails.note[reader.Email], "%v", d.mails.sent[reader.Email])
		}
		say("public", "It comes.")
		d.pass(later)
		say("internal", "It is late.")
		d.pass(later)
		notes(false, true)
		say("internal", "Is it, @"+reader.ID+"?")
		d.pass(later)
		notes(false, true, true)

		for _, visibility := range []string{"public", "public", "internal"} { // the first is mailed at once, and the others two minutes later
			testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: "Or so.", Visibility: &visibility})
			d.idle()
		}
		d.pass(later)
		notes(false, true, true, false, true)
	})
}
