package notice_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/internal/desk/attachment"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/workflow/execution"
)

// A company whose turn of costly work is taken again and again has many notices to give. Those of another company do not wait for
// them, and its own are given in the end.
func TestNoticesOfOneCompanyDoNotWaitForAnothers(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		const flood, hogs, hold = 60, 8, 50 * time.Millisecond
		agent, theirs := d.A.Users[principal.Agent], d.B.Users[principal.Agent]
		r := d.file(principal.Owner, "Laptop", agent)
		d.idle()
		owner := d.As(d.B, principal.Owner)
		s := testkit.Run(t, d.World, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		off := testkit.Run(t, d.World, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})

		var wg sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		for range hogs {
			wg.Go(func() {
				for ctx.Err() == nil {
					assert.NoError(t, d.Engine.Costly(context.Background(), d.A.Company.ID, func(context.Context) error {
						time.Sleep(hold)
						return nil
					}))
				}
			})
		}
		many := make([]jobs.Job, flood)
		for i := range many {
			many[i].Args = notice.Args{Company: d.A.Company.ID, Request: r.ID}
		}
		require.NoError(t, d.Store.Write(d.As(d.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
			return d.Queue.InsertManyTx(ctx, tx, many...)
		}))
		time.Sleep(200 * time.Millisecond) // the workers have begun
		began := time.Now()
		testkit.Run(t, d.World, owner, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: off.ID, Title: "Desk", AssigneeID: &theirs.ID})
		require.Eventually(t, func() bool { return len(d.told(d.As(d.B, principal.Agent), nil)) == 1 }, patience, tick)
		took := time.Since(began)
		t.Logf("the other company's notice took %s", took)
		stop()
		wg.Wait()
		require.Less(t, took, 2*time.Second)
		require.Eventually(t, func() bool {
			return testkit.Run(t, d.World, d.As(d.A, principal.Agent), notice.List, notice.ListInput{}).Total == flood+1
		}, patience, tick)
	})
}

// All that ask policies about people before they tell them are jobs of one queue, which companies share.
func TestJobsThatTellAreInTheQueueOfNotices(t *testing.T) {
	t.Parallel()
	for _, job := range []river.JobArgsWithInsertOpts{notice.Args{}, notice.ProgressArgs{}, request.NoticeArgs{}, execution.NoticeArgs{}, execution.BreachArgs{}, attachment.QuarantinedArgs{}} {
		require.Equal(t, "notices", job.InsertOpts().Queue, "%T", job)
	}
	require.Less(t, request.NoticeArgs{}.InsertOpts().Priority, request.NoticeArgs{MailAt: time.Now()}.InsertOpts().Priority, "what is gathered comes last")
}
