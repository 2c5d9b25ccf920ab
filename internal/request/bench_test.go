package request_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/catalog"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/principal"
	"atrium/internal/request"
	"atrium/internal/store"
	"atrium/internal/testkit"
	"atrium/internal/workflow"
)

// The cost of an operation without a door: rights, transaction, audit entry and event.
func BenchmarkOperations(b *testing.B) {
	w := testkit.SQLiteWorld(b)
	ctx := w.As(w.A, principal.Owner)
	s := testkit.Run(b, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	o := testkit.Run(b, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
	in := request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "A laptop", Fields: map[string]any{"model": "14 inch", "count": 2.0}}
	var id string
	for range 50 {
		id = testkit.Run(b, w, ctx, request.Create, in).ID
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.Get, op.ByID{ID: id}, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.List, request.ListInput{Status: []string{"PENDING"}}, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
	b.Run("create", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _, err := op.Run(ctx, w.Engine, request.Create, in, op.Call{}.Checked())
			require.NoError(b, err)
		}
	})
}

// The lists and counts of a member, who created 40 of a company's 50,000 requests and takes part in 12 others. The company has run
// 20,000 workflows with 20,000 tasks and 10,000 approvals.
func BenchmarkMembersRequests(b *testing.B) {
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		me, other := w.A.Users[principal.Member], w.A.Owner
		owner := w.As(w.A, principal.Owner)
		s := testkit.Run(b, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
		o := testkit.Run(b, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		flow := testkit.Run(b, w, owner, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "W", Definition: workflow.NewDefinition([]byte(
			`{"phases":[{"id":"start","type":"START"},{"id":"done","type":"END"}],"transitions":[{"from":"start","name":"next","to":"done"}]}`))})
		desk := testkit.Run(b, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk", MemberIDs: []string{me.ID}})
		bulk := func(n int, add func(ctx context.Context, tx *store.Tx, from, to int) error) {
			for from := 0; from < n; from += 500 {
				require.NoError(b, w.Store.Write(owner, func(ctx context.Context, tx *store.Tx) error { return add(ctx, tx, from, from+500) }))
			}
		}
		var requests, executions []string
		bulk(50_000, func(ctx context.Context, tx *store.Tx, from, to int) error {
			batch := make([]*ent.RequestCreate, 0, to-from)
			for i := from; i < to; i++ {
				by := other.ID
				if i%1250 == 0 {
					by = me.ID
				}
				batch = append(batch, tx.Request.Create().SetServiceID(s.ID).SetOfferingID(o.ID).SetTitle("R").SetCreatedBy(by))
			}
			rows, err := tx.Request.CreateBulk(batch...).Save(ctx)
			for _, row := range rows {
				requests = append(requests, row.ID)
			}
			return err
		})
		bulk(20_000, func(ctx context.Context, tx *store.Tx, from, to int) error {
			batch := make([]*ent.ExecutionCreate, 0, to-from)
			for i := from; i < to; i++ {
				create := tx.Execution.Create().SetWorkflowID(flow.ID).SetWorkflowVersion(1).SetTrigger("request").SetRequestID(requests[i])
				if i%5000 == 1 {
					create.SetConsulted([]byte(`["` + me.ID + `"]`))
				}
				batch = append(batch, create)
			}
			rows, err := tx.Execution.CreateBulk(batch...).Save(ctx)
			for _, row := range rows {
				executions = append(executions, row.ID)
			}
			return err
		})
		bulk(20_000, func(ctx context.Context, tx *store.Tx, from, to int) error {
			tasks, approvals := make([]*ent.TaskCreate, 0, to-from), make([]*ent.ApprovalCreate, 0, to-from)
			for i := from; i < to; i++ {
				task := tx.Task.Create().SetExecutionID(executions[i]).SetRequestID(requests[i]).SetPhaseID("p").SetVisit(2).SetAttempt(1).SetTitle("T")
				switch i % 5000 {
				case 2:
					task.SetAssigneeID(me.ID)
				case 3:
					task.SetTeamID(desk.ID)
				default:
					task.SetAssigneeID(other.ID)
				}
				tasks = append(tasks, task)
				if i%2 == 0 {
					approvals = append(approvals, tx.Approval.Create().SetExecutionID(executions[i]).SetRequestID(requests[i]).SetPhaseID("p").SetVisit(2).SetAttempt(1).
						SetTitle("A").SetMode("all").SetApprovers([]byte(`[{"type":"user","id":"`+other.ID+`"}]`)))
				}
			}
			if err := tx.Task.CreateBulk(tasks...).Exec(ctx); err != nil {
				return err
			}
			return tx.Approval.CreateBulk(approvals...).Exec(ctx)
		})
		ctx := w.AsUser(me)
		b.Run("list", func(b *testing.B) {
			for b.Loop() {
				l, _, err := op.Run(ctx, w.Engine, request.List, request.ListInput{}, op.Call{}.Checked())
				require.NoError(b, err)
				require.NotZero(b, l.Total)
			}
		})
		b.Run("count", func(b *testing.B) {
			for b.Loop() {
				_, _, err := op.Run(ctx, w.Engine, request.Count, request.CountInput{By: "status"}, op.Call{}.Checked())
				require.NoError(b, err)
			}
		})
		b.Run("read", func(b *testing.B) {
			for b.Loop() {
				_, _, err := op.Run(ctx, w.Engine, request.Get, op.ByID{ID: requests[1]}, op.Call{}.Checked())
				require.NoError(b, err)
			}
		})
	})
}
