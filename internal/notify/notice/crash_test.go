package notice_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// postbox keeps the mails of committed transactions as rows, whichever process has sent them.
type postbox struct{ op.Mailer }

func (postbox) Tell(ctx context.Context, tx *store.Tx, u *ent.User, t op.Told) error {
	var said []string
	for _, e := range t.Events {
		said = append(said, e.Paragraphs...)
	}
	return tx.Notification.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetKind(notification.KindInformed).SetSubject(strings.Join(said, " ")).Exec(ctx)
}

// nodesAhead is how far the clock of the nodes is ahead, so that all that waits is due there.
const nodesAhead = 48 * time.Hour

// Nodes are killed while they send what has waited: of four things that happen to a request at once the first is one mail and the other
// three are another one, each of them once.
func TestNodesAreKilled(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		w.Engine.Mailer = postbox{}
		owner, who := w.As(w.A, principal.Owner), w.A.Users[principal.Member]
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		ctx := principal.System(context.Background(), "test")
		mailed := func() []string {
			got, err := w.Store.Reader().Notification.Query().Where(notification.KindEQ(notification.KindInformed)).Select(notification.FieldSubject).Strings(ctx)
			require.NoError(t, err)
			return got
		}
		var want []string
		const each = 20
		for n := range testkit.Kills(t, 4) {
			for i := range each {
				r := testkit.Run(t, w, w.AsUser(who), request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "Laptop"})
				name := fmt.Sprintf("%d.%d", n, i)
				want = append(want, name+"a", name+"b "+name+"c "+name+"d")
				require.NoError(t, w.Engine.Work(t.Context(), w.A.Company.ID, "test", func(ctx context.Context, tx *op.Tx) error {
					for _, word := range "abcd" {
						note := notice.Note{Kind: notice.Progress, Subject: locale.Raw("x"), About: "x", RequestID: &r.ID, Text: []locale.Text{locale.Raw(name + string(word))}}
						if err := notice.Send(ctx, tx, []*ent.User{who}, note); err != nil {
							return err
						}
					}
					return nil
				}))
			}
			w.Later(t, later)
			before := len(mailed())
			node := w.StartNode(t, "TestNodeThatMailsWhatWaits", "")
			require.Eventually(t, func() bool { return len(mailed()) > before }, patience, time.Millisecond)
			time.Sleep(rand.N(20 * time.Millisecond)) // it is mailing the others
			testkit.Kill(t, node)
		}
		w.Clock.SetOffset(nodesAhead)
		w.WorkJobs(t, notice.Work(w.Engine, reads))
		require.Eventually(t, func() bool {
			waits, err := w.Store.Reader().Notification.Query().Where(notification.DigestAtNotNil()).Count(ctx)
			require.NoError(t, err)
			if waits > 0 {
				require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
					return w.Queue.InsertTx(ctx, tx, notice.DigestArgs{}, time.Time{})
				}))
			}
			return waits == 0
		}, patience+time.Duration(len(want))*time.Second/10, time.Second)
		require.ElementsMatch(t, want, mailed())
	})
}

// TestNodeThatMailsWhatWaits is the process that is killed. It does nothing in any other process.
func TestNodeThatMailsWhatWaits(t *testing.T) {
	w, _ := testkit.OpenNode(t)
	if w == nil {
		return
	}
	w.Store.Clock().SetOffset(nodesAhead)
	w.Engine.Mailer = postbox{}
	w.WorkUntilKilled(t, notice.Work(w.Engine, reads))
}
