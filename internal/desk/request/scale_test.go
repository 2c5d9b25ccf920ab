package request_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	filed "atrium/ent/request"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// seedRequests writes n requests of two years, one in fifty of them open, of which one in four has no assignee and no team.
func seedRequests(tb testing.TB, w *testkit.World, ctx context.Context, n int) {
	tb.Helper()
	var offerings []*ent.Offering
	for i := range 7 {
		s := testkit.Run(tb, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprintf("Service %d", i)})
		offerings = append(offerings, testkit.Run(tb, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Offering"}))
	}
	var people []string
	for _, u := range w.A.Users {
		people = append(people, u.ID)
	}
	slices.Sort(people)
	const span, chunk = 2 * 365 * 24 * time.Hour, 1000
	from := w.Clock.Now().Add(-span).UTC().Truncate(time.Millisecond)
	row := func(c *ent.RequestCreate, i int) *ent.RequestCreate {
		at := from.Add(span / time.Duration(n) * time.Duration(i))
		c.SetID(id.From("req", at)).SetCompanyID(w.A.Company.ID).SetNumber(int64(i + 1)).SetCreatedAt(at).SetUpdatedAt(at.Add(time.Minute)).SetCreatedBy(people[i%len(people)]).
			SetServiceID(offerings[i%7].ServiceID).SetOfferingID(offerings[i%7].ID).SetFields(json.RawMessage(`{}`)).SetPriorityRank(int8(1 + i%4)).
			SetPriority([]filed.Priority{filed.PriorityLOW, filed.PriorityMEDIUM, filed.PriorityHIGH, filed.PriorityURGENT}[i%4]).
			SetTitle(fmt.Sprintf("Request %d: %s", i, []string{"a laptop", "a desk", "access", "a badge"}[i%11%4])).
			SetTags(map[string]string{"site": []string{"berlin", "paris", "oslo"}[i%13%3], "ticket": strconv.Itoa(i / 10)})
		if i%4 != 0 {
			c.SetAssigneeID(people[i/4%len(people)])
		}
		switch {
		case i%50 == 0:
			c.SetStatus(filed.StatusPENDING)
		case i%50 == 1:
			c.SetStatus(filed.StatusIN_PROGRESS).SetAcceptedAt(at)
		case i%50 == 2:
			c.SetStatus(filed.StatusCANCELLED).SetCancelledAt(at)
		default:
			accepted := at.Add(time.Duration(i%997) * time.Minute)
			c.SetStatus(filed.StatusCOMPLETED).SetAcceptedAt(accepted).SetCompletedAt(accepted.Add(time.Duration(i%9973) * time.Minute))
		}
		if i%5 == 0 {
			c.SetSatisfaction(1 + i%25/5)
		}
		return c
	}
	for i := 0; i < n; i += chunk {
		require.NoError(tb, w.Store.Write(principal.System(ctx, "the benchmark seeds"), func(ctx context.Context, tx *store.Tx) error {
			var rows []*ent.RequestCreate
			for k := i; k < min(i+chunk, n); k++ {
				rows = append(rows, row(tx.Request.Create(), k))
			}
			return tx.Request.CreateBulk(rows...).Exec(ctx)
		}))
	}
	if pool := w.Store.Pool(); pool != nil {
		_, err := pool.Exec(ctx, "VACUUM ANALYZE requests") // as autovacuum does
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Store.Analyze(ctx, map[string]int{}))
}

// The reads of a company with many requests, as its desk makes them: SCALE=1000000 is how many, 20,000 without.
func BenchmarkScale(b *testing.B) {
	n := 20_000
	if scale := os.Getenv("SCALE"); scale != "" {
		var err error
		n, err = strconv.Atoi(scale)
		require.NoError(b, err)
	}
	testkit.EachBench(b, func(b *testing.B, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		seedRequests(b, w, ctx, n)
		me := w.A.Users[principal.Agent].ID
		open, half := []string{"PENDING", "IN_PROGRESS"}, w.Clock.Now().AddDate(-1, 0, 0)
		page := func(number int, sort string) paging.Page { return paging.Page{Number: number, Size: 20, Sort: sort} }
		lists := []struct {
			name string
			in   request.ListInput
		}{
			{"newest", request.ListInput{}},
			{"completed", request.ListInput{Status: []string{"COMPLETED"}}},
			{"unassigned and open", request.ListInput{AssigneeID: []string{"none"}, Status: open}},
			{"mine and open, by due time", request.ListInput{AssigneeID: []string{me}, Status: open, Page: page(1, "resolutionDueAt")}},
			{"open, by due time", request.ListInput{Status: open, Page: page(1, "resolutionDueAt")}},
			{"no team and completed", request.ListInput{TeamID: []string{"none"}, Status: []string{"COMPLETED"}}},
			{"created before", request.ListInput{CreatedBefore: &half}},
			{"two statuses, by status", request.ListInput{Status: open, Page: page(1, "status")}},
			{"by title", request.ListInput{Page: page(1, "title")}},
			{"page 1000", request.ListInput{Page: page(min(1000, n/20), "")}},
			{"last page", request.ListInput{Page: page(n/20, "")}},
			{"tag, frequent", request.ListInput{Tags: map[string][]string{"site": {"oslo"}}}},
			{"tag, rare", request.ListInput{Tags: map[string][]string{"ticket": {"77"}}}},
			{"q, frequent", request.ListInput{Q: "laptop"}},
			{"q, none", request.ListInput{Q: "printer"}},
		}
		for _, l := range lists {
			b.Run(l.name, func(b *testing.B) {
				for b.Loop() {
					_, _, err := op.Run(ctx, w.Engine, request.List, l.in, op.Call{}.Checked())
					require.NoError(b, err)
				}
			})
		}
		benchReports(b, w, ctx)
		for name, of := range map[string]request.ListInput{"all": {}, "the open": {Status: open}} {
			for _, by := range []string{"assigneeId", "teamId", "serviceId", "slaState"} {
				b.Run("count "+name+" by "+by, func(b *testing.B) {
					for b.Loop() {
						_, _, err := op.Run(ctx, w.Engine, request.Count, request.CountInput{ListInput: of, By: by}, op.Call{}.Checked())
						require.NoError(b, err)
					}
				})
			}
		}
	})
}

// benchReports reads reports of a month and of a year, each with the time before, and the month's completed alone.
func benchReports(b *testing.B, w *testkit.World, ctx context.Context) {
	now := w.Clock.Now()
	all := []string{"service", "offering", "team", "assignee", "organization", "priority"}
	for _, r := range []struct {
		name string
		in   request.ReportInput
	}{
		{"report of a month", request.ReportInput{From: new(now.AddDate(0, -1, 0)), To: &now, Over: "day", By: all}},
		{"report of an old month", request.ReportInput{From: new(now.AddDate(-1, -1, 0)), To: new(now.AddDate(-1, 0, 0)), Over: "day", By: all}},
		{"report of a month, high", request.ReportInput{ListInput: request.ListInput{Priority: []string{"HIGH"}}, From: new(now.AddDate(0, -1, 0)), To: &now, Over: "day", By: all}},
		{"report of a year", request.ReportInput{From: new(now.AddDate(-1, 0, 0)), To: &now, Over: "week", By: []string{"service", "team"}}},
		{"report of a year by all", request.ReportInput{From: new(now.AddDate(-1, 0, 0)), To: &now, Over: "month", By: all}},
	} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				_, _, err := op.Run(ctx, w.Engine, request.Report, r.in, op.Call{}.Checked())
				require.NoError(b, err)
			}
		})
	}
}
