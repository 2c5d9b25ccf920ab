package request_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/ent/predicate"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/sla"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// One edit of an offering that makes many requests late tells each person by one mail, which lists them. A warning that is added to
// targets already missed is not told.
func TestOneEditIsOneMail(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		mails := &letters{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		owner := w.A.Users[principal.Owner]
		o := w.offer(catalog.SLA{ResolutionMinutes: new(600)})
		var filed []*ent.Request
		for range 3 {
			r := w.file(w.owner, o)
			filed = append(filed, w.patch(w.owner, r.ID, request.UpdateInput{AssigneeID: op.SetTo(owner.ID)}))
		}
		w.work(notice.Work(w.Engine, notice.Reads{Request: request.Get.Info()}))
		w.later(time.Hour)
		mails.take()
		edit := func(minutes int, warn op.Patch[int]) {
			t.Helper()
			testkit.Run(t, world, w.owner, catalog.UpdateOffering, catalog.UpdateOfferingInput{
				ByID: op.ByID{ID: o.ID}, SLA: op.SetTo(catalog.SLA{ResolutionMinutes: &minutes, WarnAtPercent: warn}),
			})
			for _, r := range filed {
				require.Eventually(t, func() bool {
					return w.get(r.ID).ResolutionDueAt.Equal(r.CreatedAt.Add(time.Duration(minutes) * time.Minute))
				}, patience, tick)
				require.Equal(t, map[string]int{"sla.breached": 1}, w.told(r.ID))
			}
		}
		mailed := func() []string {
			w.later(3 * time.Minute)
			require.NoError(t, w.Store.Write(principal.System(t.Context(), "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
				return w.Queue.InsertTx(ctx, tx, notice.DigestArgs{}, time.Time{})
			}))
			require.Eventually(t, func() bool {
				n, err := w.Store.Reader().Notification.Query().Where(notification.DigestAtNotNil()).Count(w.owner)
				require.NoError(t, err)
				return n == 0
			}, patience, tick)
			mails.mu.Lock()
			defer mails.mu.Unlock()
			return mails.sent[owner.Email]
		}
		edit(30, op.Clear[int]())
		require.Eventually(t, func() bool {
			n, err := w.Store.Reader().Notification.Query().Where(notification.UserID(owner.ID), notification.KindEQ(notification.KindBreached)).Count(w.owner)
			require.NoError(t, err)
			return n == 3
		}, patience, tick)
		got := mailed()
		require.Len(t, got, 1)
		for _, r := range filed {
			require.Contains(t, got[0], fmt.Sprintf("- Late: #%d A laptop", r.Number))
		}
		edit(29, op.SetTo(80))
		require.Equal(t, got, mailed(), "what is late is not due soon")
	})
}

// A change of many requests at once that makes them late, or gives them to somebody, tells each person by one mail, which lists them. One of
// one request tells at once.
func TestOneChangeOfManyIsOneMail(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		mails := &letters{sent: map[string][]string{}}
		w.Engine.Mailer = mails
		agent := w.A.Users[principal.Agent]
		o := w.offer(catalog.SLA{ResolutionMinutes: new(600), WarnAtPercent: op.SetTo(0), ByPriority: &sla.ByPriority{URGENT: &sla.Targets{ResolutionMinutes: new(30)}}})
		var filed []*ent.Request
		var ids []string
		for range 5 {
			filed = append(filed, w.file(w.owner, o))
			ids = append(ids, filed[len(filed)-1].ID)
		}
		w.work(notice.Work(w.Engine, notice.Reads{Request: request.Get.Info()}))
		w.later(time.Hour)
		bulk := func(change map[string]any, ids ...string) {
			t.Helper()
			in := request.BulkInput{IDs: ids, Change: change}
			ctx := in.Gathered(w.owner, w.Engine)
			for _, id := range ids {
				_, _, err := in.Row(ctx, w.Engine, id, op.Call{})
				require.NoError(t, err)
			}
		}
		told := func(where ...predicate.Notification) int {
			n, err := w.Store.Reader().Notification.Query().Where(append(where, notification.UserID(agent.ID))...).Count(w.owner)
			require.NoError(t, err)
			return n
		}
		mailed := func() []string {
			mails.mu.Lock()
			defer mails.mu.Unlock()
			return mails.sent[agent.Email]
		}
		bulk(map[string]any{"assigneeId": agent.ID}, ids...)
		require.Eventually(t, func() bool { return told(notification.KindEQ(notification.KindAssigned)) == 5 }, patience, tick)
		bulk(map[string]any{"priority": "URGENT"}, ids...)
		require.Eventually(t, func() bool { return told(notification.KindEQ(notification.KindBreached)) == 5 }, patience, tick)
		require.Empty(t, mailed())
		w.later(3 * time.Minute)
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "jobs belong to the installation"), func(ctx context.Context, tx *store.Tx) error {
			return w.Queue.InsertTx(ctx, tx, notice.DigestArgs{}, time.Time{})
		}))
		require.Eventually(t, func() bool { return told(notification.DigestAtNotNil()) == 0 }, patience, tick)
		got := mailed()
		require.Len(t, got, 1)
		for _, r := range filed {
			require.Contains(t, got[0], fmt.Sprintf("- Assigned to you: #%d A laptop", r.Number))
			require.Contains(t, got[0], fmt.Sprintf("- Late: #%d A laptop", r.Number))
		}

		one := w.file(w.owner, o)
		bulk(map[string]any{"assigneeId": agent.ID}, one.ID)
		require.Eventually(t, func() bool { return len(mailed()) == 2 }, patience, tick)
	})
}
