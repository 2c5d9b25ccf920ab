package notice_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Everybody is told in their own language, also of one event; the list shows what the mail said.
func TestReadersLanguage(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		member, staff := d.As(d.A, principal.Member), d.As(d.A, principal.Agent)
		german, english := d.A.Users[principal.Agent], d.A.Users[principal.Admin]
		for _, who := range []principal.Role{principal.Member, principal.Agent} {
			testkit.Run(t, d.World, d.As(d.A, who), people.UpdateViewer, people.UpdateViewerInput{Locale: op.SetTo("de")})
		}
		team := testkit.Run(t, d.World, d.As(d.A, principal.Owner), people.CreateTeam, people.CreateTeamInput{Name: "IT", MemberIDs: []string{german.ID, english.ID}})
		in := request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop", Description: new("Der alte ist kaputt.")}
		id := op.ByID{ID: testkit.Run(t, d.World, member, request.Create, in).ID}
		by := german.Name
		mails := func(u *ent.User, want ...string) {
			t.Helper()
			d.idle()
			d.pass(later)
			require.Equal(t, want, d.mails.of(u))
		}

		testkit.Run(t, d.World, staff, request.CreateComment, request.CreateCommentInput{ByID: id, Body: "Welcher?"})
		answered := "progress: #1 Laptop\n" + by + " hat auf Ihre Anfrage geantwortet.\nWelcher?\n/requests/" + id.ID
		mails(d.A.Users[principal.Member], answered)
		require.Equal(t, "Beantwortet: #1 Laptop", d.told(member, nil)[0].Subject)

		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.Update, request.UpdateInput{ByID: id, AssigneeID: op.SetTo(german.ID)})
		owner := d.A.Owner.Name
		assigned := "assigned: #1 Laptop\n" + owner + " hat Ihnen diese Anfrage zugewiesen.\nDer alte ist kaputt.\n/requests/" + id.ID
		mails(german, assigned)

		testkit.Run(t, d.World, staff, request.Update, request.UpdateInput{ByID: id, TeamID: op.SetTo(team.ID), AssigneeID: op.Clear[string]()})
		for _, status := range []string{"IN_PROGRESS", "COMPLETED"} {
			testkit.Run(t, d.World, staff, request.Update, request.UpdateInput{ByID: id, Status: op.SetTo(status)})
		}
		completed := "progress: #1 Laptop\n" + by + " hat Ihre Anfrage abgeschlossen.\n\n/requests/" + id.ID
		mails(d.A.Users[principal.Member], answered, completed)
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), request.Reopen, request.ReopenInput{ByID: id})
		mails(german, assigned, "assigned: #1 Laptop\n"+owner+" hat diese Anfrage wieder geöffnet.\n\n/requests/"+id.ID)
		mails(english, "assigned: #1 Laptop\n"+owner+" reopened this request.\n\n/requests/"+id.ID)
		mails(d.A.Users[principal.Member], answered, completed, "progress: #1 Laptop\n"+owner+" hat Ihre Anfrage wieder geöffnet.\n\n/requests/"+id.ID)
	})
}

// Digests come at seven in the morning where the person is, also on the days on which the clocks change.
func TestNextDigest(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for now, want := range map[string]string{
		"2026-11-28T05:59:00Z": "2026-11-28T06:00:00Z",
		"2026-11-28T06:00:00Z": "2026-11-29T06:00:00Z",
		"2026-03-28T06:30:00Z": "2026-03-29T05:00:00Z", // summer time begins in that night
		"2026-10-24T05:30:00Z": "2026-10-25T06:00:00Z", // and ends
	} {
		at, err := time.Parse(time.RFC3339, now)
		require.NoError(t, err)
		require.Equal(t, want, notice.NextDigest(at, berlin).UTC().Format(time.RFC3339), now)
	}
}

// An erasure finds mentions by how their subjects begin, whatever the reader's language is.
func TestMentionedBy(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"Ada mentioned you: ", "Ada hat Sie erwähnt: "}, notice.MentionedBy("Ada"))
}
