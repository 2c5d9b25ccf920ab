package mailbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/request"
	"atrium/internal/notify/mailbox"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// noteTo returns the address at which somebody answers a mail that told of a note for staff.
func (d *desk) noteTo(u *ent.User, requestID string) string {
	d.t.Helper()
	at, err := mailbox.AnswerTo(d.AsUser(u), d.Store.Reader(), d.Engine.Sealer, u, requestID, true)
	require.NoError(d.t, err)
	return at
}

// told is an answer between the lines of a mail that tells of a note, in which nothing may stand that the requester reads.
const told = "No.\r\n\r\n> She is on the list.\r\n\r\nNot before Friday.\r\n\r\nOn Mon, 30 Nov 2026 at 10:00, The desk <help@acme.test> wrote:\r\n> She is on the list.\r\n> Shall we?"

// An answer to a mail that told of an internal note is a note itself, by its address or by what it refers to, with its files and with what stands
// between its lines.
func TestAnswersToNotesAreNotes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		testkit.Run(t, d.World, d.AsUser(staff), request.Watch, request.WatchInput{ByID: op.ByID{ID: r.ID}})
		at := d.noteTo(staff, r.ID)
		require.NotEqual(t, d.answerTo(staff, r.ID), at)
		file := "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n"
		require.NoError(t, d.send(mail{from: staff.Email, id: "token@x", subject: "Re: #1 Laptop", header: file, body: "--b\r\nContent-Type: text/plain\r\n\r\n" + told +
			"\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=list.txt\r\n\r\nAda\r\n--b--"}, at))
		require.NoError(t, d.send(mail{from: staff.Email, id: "reference@x", subject: "Re: #1 Laptop", refs: r.ID + ".note@atrium.test", body: told}))
		require.NoError(t, d.send(mail{from: staff.Email, id: "passed@x", subject: "Fwd: #1 Laptop", body: told}, at))
		for _, id := range []string{"token@x", "reference@x", "passed@x"} {
			require.Equal(t, r.ID, *d.came(id, inboundmail.OutcomeCOMMENT).RequestID)
		}
		notes := d.comments(r.ID)
		require.Len(t, notes, 3)
		for _, c := range notes {
			require.Equal(t, []string{string(comment.VisibilityInternal), staff.ID}, []string{string(c.Visibility), c.AuthorID})
			require.Contains(t, c.Body, "Not before Friday.")
		}
		require.Empty(t, testkit.Run(t, d.World, d.AsUser(who), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}}).Rows)
		require.Empty(t, testkit.Run(t, d.World, d.AsUser(who), attachment.List, attachment.ListInput{ByID: op.ByID{ID: r.ID}}).Rows)

		require.NoError(t, d.send(mail{from: staff.Email, id: "public@x", subject: "Re: #1 Laptop", refs: r.ID + "@atrium.test", body: "It comes."}, d.answerTo(staff, r.ID)))
		d.came("public@x", inboundmail.OutcomeCOMMENT)
		require.Equal(t, "It comes.", testkit.Run(t, d.World, d.AsUser(who), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}}).Rows[0].Body)

		deny := policy.NewCondition([]byte(`{"resource.visibility": "internal"}`))
		testkit.Run(t, d.World, d.As(d.A, principal.Owner), policy.Create, policy.CreateInput{Name: "No notes", Effect: "Deny", Action: "create", Resource: "Comment", Condition: &deny})
		require.NoError(t, d.send(mail{from: staff.Email, id: "denied@x", subject: "Re: #1 Laptop", body: told}, at))
		d.came("denied@x", inboundmail.OutcomeHELD)
		require.Len(t, d.comments(r.ID), 4, "it is not published instead")
	})
}

// Whoever may write no notes, such as a member who was asked to approve, answers such a mail in public: with their own words alone, neither with
// what stands between these nor with what they pass on.
func TestAnswersOfMembersToNotes(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		at := d.noteTo(who, r.ID)
		passed := "I agree.\r\n\r\n---------- Forwarded message ---------\r\nFrom: Desk <help@acme.test>\r\nSubject: #1 Laptop\r\n\r\nShe is on the list."
		for id, m := range map[string]mail{"between@x": {subject: "Re: #1 Laptop", body: told}, "passed@x": {subject: "Fwd: #1 Laptop", body: passed}} {
			m.from, m.id = who.Email, id
			require.NoError(t, d.send(m, at))
			d.came(id, inboundmail.OutcomeCOMMENT)
		}
		public := testkit.Run(t, d.World, d.AsUser(who), request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}}).Rows
		require.Len(t, public, 2)
		for _, c := range public {
			require.Equal(t, comment.VisibilityPublic, c.Visibility)
			require.NotContains(t, c.Body, "list")
			require.Nil(t, c.Quoted)
		}
		for _, c := range d.comments(r.ID) {
			require.Contains(t, *c.Quoted, "She is on the list.", "staff read it")
		}
	})
}

// A text that is too long for a comment is a file beside it, without what the mail quotes.
func TestLongAnswersAreFilesWithoutQuotations(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who, staff := d.A.Users[principal.Member], d.A.Users[principal.Agent]
		r := testkit.Run(t, d.World, d.AsUser(who), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		testkit.Run(t, d.World, d.AsUser(staff), request.Watch, request.WatchInput{ByID: op.ByID{ID: r.ID}})
		own := strings.TrimSpace(strings.Repeat("One of many lines.\r\n", 1000))
		quoted := strings.Repeat("> She is on the list.\r\n", 6000)
		require.NoError(t, d.send(mail{from: staff.Email, id: "long@x", subject: "Re: #1 Laptop", body: own + "\r\n\r\nOn Mon, 30 Nov 2026 at 10:00, The desk <help@acme.test> wrote:\r\n" + quoted}, d.answerTo(staff, r.ID)))
		m := d.came("long@x", inboundmail.OutcomeCOMMENT)
		require.Contains(t, *m.Reason, "What it quotes is longer than 100000 characters and was cut.")
		a := d.attached(r.ID)
		require.Equal(t, "mail.txt", a.Name)
		require.Len(t, strings.ReplaceAll(own, "\r\n", "\n"), int(a.Size), "the author's own words")
	})
}
