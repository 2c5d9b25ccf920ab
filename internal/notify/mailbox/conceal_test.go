package mailbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/inboundmail"
	"atrium/internal/platform/principal"
)

// Who reads a comment gets no permission of its author's from the mail of ours that it quotes, nor staff from the list of what came.
func TestQuotedPermissionsAreConcealed(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		who := d.A.Users[principal.Member]
		quoted := "Well done.\r\n\r\nOn Monday Desk wrote:\r\n> Rate it:\r\n> https://a.test/rate?token=AAAA-secret_1\r\n> No more mails:\r\n> https://a.test/notifications/unsubscribe?token=BBBB-secret_2\r\n> https://b.test/?token=theirs"
		require.NoError(t, d.send(mail{from: who.Email, id: "1@x", subject: "Hello", body: "Me."}))
		r := d.came("1@x", inboundmail.OutcomeREQUEST).RequestID
		require.NoError(t, d.send(mail{from: who.Email, id: "2@x", subject: "Re: it", body: quoted}, d.answerTo(who, *r)))
		d.came("2@x", inboundmail.OutcomeCOMMENT)
		c := d.comments(*r)[0]
		require.NotContains(t, *c.Quoted, "secret")
		require.Contains(t, *c.Quoted, "> https://a.test/rate?token=…\n")
		require.Contains(t, *c.Quoted, "https://b.test/?token=theirs")
		require.NoError(t, d.send(mail{from: who.Email, id: "3@x", subject: "Fwd: it", body: "https://a.test/rate?token=AAAA-secret_1"}))
		filed := d.came("3@x", inboundmail.OutcomeREQUEST)
		require.NotContains(t, filed.Excerpt+d.request(*filed.RequestID).Description, "secret")
	})
}
