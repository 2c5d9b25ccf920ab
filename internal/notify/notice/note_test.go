package notice_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
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

// What is written in Markdown is told as it reads, and people by their names: at once, among other things, to whom it mentions, and of a request.
func TestMailsReadMarkdownAndNames(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		lead, markdown := d.A.Users[principal.Admin], "markdown"
		c := d.ask("Laptop")
		require.NoError(t, d.Store.Write(d.As(d.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return tx.User.UpdateOneID(lead.ID).SetName("Ada Lead").Exec(ctx)
		}))
		body := "It is *slow*, @" + lead.Email + " and @" + lead.ID + ":\n\n- [the plan](https://x.test/plan)"
		reads := "It is slow, @Ada Lead and @Ada Lead:\n\n- the plan (https://x.test/plan)\n"
		for range 2 {
			testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: body, Format: &markdown})
		}
		d.idle()
		d.pass(later)
		d.pass(later)
		for _, u := range []*ent.User{c.who, lead} {
			require.NotEmpty(t, d.mails.of(u))
			for _, told := range d.mails.of(u) {
				require.Contains(t, told, reads)
				require.NotContains(t, told, "@"+lead.Email)
			}
		}
		require.GreaterOrEqual(t, len(d.mails.of(c.who)), 2, "at once, and two minutes later")

		testkit.Run(t, d.World, d.AsUser(c.staff), request.Create, request.CreateInput{
			ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Phone", Description: &body, Format: &markdown, RequesterID: &c.who.ID, AssigneeID: &lead.ID,
		})
		d.idle()
		require.Contains(t, d.mails.of(c.who)[len(d.mails.of(c.who))-1], reads)
		require.Contains(t, d.mails.of(lead)[len(d.mails.of(lead))-1], reads)
		testkit.Run(t, d.World, d.AsUser(c.staff), request.CreateComment, request.CreateCommentInput{ByID: c.by, Body: "It is *slow*."})
		d.idle()
		d.pass(later)
		require.Contains(t, d.mails.of(c.who)[len(d.mails.of(c.who))-1], "It is *slow*.", "plain text is as it was typed")
	})
}
