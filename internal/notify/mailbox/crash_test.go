package mailbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/comment"
	"atrium/ent/inboundmail"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/request"
	"atrium/internal/notify/inmail/listener"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/seal"
	"atrium/internal/test/testkit"
)

// Nodes are killed while they work mails, and each mail is sent a second time, as clients do that got no answer: each of them is exactly
// one request or one comment, with its file.
func TestNodesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		dir := t.TempDir()
		key := filepath.Join(dir, "key")
		require.NoError(t, seal.CreateFile(key))
		var err error
		w.Engine.Sealer, err = seal.Open(t.Context(), seal.Source{File: key})
		require.NoError(t, err)
		d := open(t, w)
		d.Post = post(w.Engine, w.Queue, dir)
		var people []string
		for n := range 8 { // a sender's 21st mail of an hour would be held
			people = append(people, w.AddUser(t, w.A, fmt.Sprintf("p%d@a.test", n), principal.Member).Email)
		}
		r := testkit.Run(t, w, w.As(w.A, principal.Member), request.Create, request.CreateInput{ServiceID: d.offering.ServiceID, OfferingID: d.offering.ID, Title: "Laptop"})
		sent, answers := 0, 0
		w.KillNodes(t, 4, "TestNodeThatWorksMail", dir, func(n int) {
			file := "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n"
			for i := range 3 {
				m := mail{from: people[(3*n+i)%len(people)], id: fmt.Sprintf("%d-%d@x", n, i), subject: "New", header: file,
					body: "--b\r\nContent-Type: text/plain\r\n\r\nHello.\r\n--b\r\nContent-Type: text/plain; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\n" + fmt.Sprint(n, i) + "\r\n--b--"}
				if n < 3 && i == 2 { // a few answers of who takes part
					m.from, m.refs, m.subject, answers = w.A.Users[principal.Member].Email, r.ID+"@atrium.test", "Re: #1 Laptop", answers+1
				}
				sent++
				for range 2 {
					require.NoError(t, d.Take(t.Context(), listener.Envelope{Sender: m.from, Recipients: []string{*d.box.ReceivesAt}}, strings.NewReader(m.String())))
				}
			}
		})
		d.work()
		out := d.outcomes(min(100, 2*sent))
		require.Equal(t, map[inboundmail.Outcome]int{"REQUEST": sent - answers, "COMMENT": answers, "DUPLICATE": sent}, out)
		db, ctx := w.Store.Reader(), principal.System(context.Background(), "test")
		filed, err := db.Request.Query().Where(entrequest.Title("New")).Count(ctx)
		require.NoError(t, err)
		require.Equal(t, sent-answers, filed)
		said, err := db.Comment.Query().Where(comment.ViaEQ(comment.ViaMail)).Count(ctx)
		require.NoError(t, err)
		require.Equal(t, answers, said)
		files, err := db.Attachment.Query().Count(ctx)
		require.NoError(t, err)
		require.Equal(t, sent, files)
	})
}

// TestNodeThatWorksMail is the process that is killed. It does nothing in any other process.
func TestNodeThatWorksMail(t *testing.T) {
	w, dir := testkit.OpenNode(t)
	if w == nil {
		return
	}
	var err error
	w.Engine.Sealer, err = seal.Open(t.Context(), seal.Source{File: filepath.Join(dir, "key")})
	require.NoError(t, err)
	w.WorkUntilKilled(t, post(w.Engine, w.Queue, dir).Work())
}
