package request_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	filed "atrium/ent/request"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// A report says what counting the rows of the list says, whatever the time, the zone, the filter and the caller.
func TestReportIsWhatTheListSays(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		l := newLives(t, w)
		l.live(40, 160)
		c := policy.NewCondition([]byte(`{"resource.title": "Request 1", "principal.role": "agent"}`))
		testkit.Run(t, w, w.As(w.A, principal.Owner), policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "Request", Condition: &c})
		filters := []request.ListInput{
			{}, {Status: []string{"COMPLETED", "CANCELLED"}}, {TeamID: []string{"none"}}, {Priority: []string{"MEDIUM"}, ServiceID: []string{l.offerings[0].ServiceID}},
			{OfferingID: []string{l.offerings[1].ID, l.offerings[2].ID}}, {Q: "request"}, {Satisfaction: []int{1, 2, 3}}, {Tags: map[string][]string{"a": {"b"}}},
		}
		for n := range 40 {
			role := []principal.Role{principal.Owner, principal.Agent, principal.Member}[n%3]
			zone := []string{"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"}[l.random.IntN(4)]
			from := l.started.Add(time.Duration(l.random.IntN(150*24)-10*24) * time.Hour).Truncate(time.Hour)
			l.compare(w.As(w.A, role), request.ReportInput{
				ListInput: filters[l.random.IntN(len(filters))], From: &from, To: new(from.Add(time.Duration(1+l.random.IntN(60*24)) * time.Hour)),
				Over: []string{"day", "week", "month"}[l.random.IntN(3)], TimeZone: zone, By: []string{"service", "offering", "team", "assignee", "organization", "priority"},
			})
		}
		all := testkit.Run(t, w, w.As(w.A, principal.Owner), request.Report, request.ReportInput{From: &l.started, To: new(w.Clock.Now())})
		require.Equal(t, 40, all.Total.Filed)
		for name, n := range map[string]int{"completed": all.Total.Completed, "cancelled": all.Total.Cancelled, "reopened": all.Total.Reopened, "rated": all.Total.Ratings, "late": all.Total.SLAMissed} {
			require.Positive(t, n, "the lives have some that are "+name)
		}
		other := testkit.Run(t, w, w.As(w.B, principal.Owner), request.Report, request.ReportInput{From: &l.started, To: new(w.Clock.Now())})
		require.Zero(t, *other.Total, "another company's are nobody else's")
	})
}

// fileAt writes requests that were filed at some moments.
func fileAt(t *testing.T, w *testkit.World, o *ent.Offering, moments ...time.Time) {
	t.Helper()
	require.NoError(t, w.Store.Write(principal.System(t.Context(), "the test files in the past"), func(ctx context.Context, tx *store.Tx) error {
		var rows []*ent.RequestCreate
		for i, at := range moments {
			rows = append(rows, tx.Request.Create().SetID(id.New("req")).SetCompanyID(w.A.Company.ID).SetNumber(int64(1000+i)).SetTitle("Old").SetCreatedAt(at).SetUpdatedAt(at).
				SetCreatedBy(w.A.Users[principal.Owner].ID).SetServiceID(o.ServiceID).SetOfferingID(o.ID).SetPriorityRank(2).SetPriority(filed.PriorityMEDIUM))
		}
		return tx.Request.CreateBulk(rows...).Exec(ctx)
	}))
}

// Days are the company's, or those of the zone that is asked for, on the days on which the clocks change, too.
func TestReportHasTheDaysOfTheZone(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		_, o := offer(t, w, owner)
		at := func(s string) time.Time {
			moment, err := time.Parse(time.RFC3339, s)
			require.NoError(t, err)
			return moment
		}
		fileAt(t, w, o, at("2026-03-27T23:30:00Z"), at("2026-03-28T22:59:59.999Z"), at("2026-03-28T23:00:00Z"), at("2026-03-29T21:59:59Z"), at("2026-03-29T22:00:00Z"))
		days := func(zone string) (string, map[string]int) {
			r := testkit.Run(t, w, owner, request.Report, request.ReportInput{
				From: new(at("2026-03-27T23:00:00Z")), To: new(at("2026-03-30T22:00:00Z")), TimeZone: zone,
			})
			out := map[string]int{}
			for _, step := range r.Over {
				out[*step.Key] = step.Figures.Filed
			}
			return r.TimeZone, out
		}
		berlin := map[string]int{"2026-03-28": 2, "2026-03-29": 2, "2026-03-30": 1}
		utc := map[string]int{"2026-03-27": 1, "2026-03-28": 2, "2026-03-29": 2, "2026-03-30": 0}
		zone, got := days("")
		require.Equal(t, []any{"UTC", utc}, []any{zone, got}, "a company without a zone")
		zone, got = days("Europe/Berlin")
		require.Equal(t, []any{"Europe/Berlin", berlin}, []any{zone, got})
		require.NoError(t, w.Store.Write(principal.System(t.Context(), "the test sets the zone"), func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(w.A.Company.ID).SetTimeZone("Europe/Berlin").Exec(ctx)
		}))
		zone, got = days("")
		require.Equal(t, []any{"Europe/Berlin", berlin}, []any{zone, got})
	})
}

// What a report cannot be about is refused, with the field.
func TestReportRefuses(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		from := w.Clock.Now()
		later := from.Add(time.Hour)
		for name, c := range map[string]struct {
			in     request.ReportInput
			fields []string
		}{
			"no end, and not begun": {request.ReportInput{From: new(from.AddDate(1, 0, 0))}, []string{"to"}},
			"nothing":               {request.ReportInput{From: &from, To: &from}, []string{"to"}},
			"backwards":             {request.ReportInput{From: &later, To: &from}, []string{"to"}},
			"too long":              {request.ReportInput{From: &from, To: new(from.AddDate(0, 25, 1))}, []string{"to"}},
			"no zone":               {request.ReportInput{From: &from, To: &later, TimeZone: "Mars/Olympus"}, []string{"timeZone"}},
			"the machine's":         {request.ReportInput{From: &from, To: &later, TimeZone: "Local"}, []string{"timeZone"}},
			"no step":               {request.ReportInput{From: &from, To: &later, Over: "year"}, []string{"over"}},
			"by nothing":            {request.ReportInput{From: &from, To: &later, By: []string{"color"}}, []string{"by"}},
			"twice":                 {request.ReportInput{From: &from, To: &later, By: []string{"team", "team"}}, []string{"by"}},
			"a faulty filter":       {request.ReportInput{ListInput: request.ListInput{Status: []string{"GONE"}}, From: &from, To: &later}, []string{"status"}},
		} {
			_, _, err := op.Run(w.As(w.A, principal.Agent), w.Engine, request.Report, c.in, nil)
			require.Equal(t, apperr.Validation, codeOf(err), "%s: %v", name, err)
			require.Equal(t, c.fields, faultsOf(err), name)
		}
		testkit.Run(t, w, w.As(w.A, principal.Agent), request.Report, request.ReportInput{From: &from, To: new(from.AddDate(0, 25, 0))})
		usual := testkit.Run(t, w, w.As(w.A, principal.Agent), request.Report, request.ReportInput{Over: "day"})
		require.Equal(t, from.AddDate(0, 0, -30).UTC().Format(time.DateOnly), *usual.Over[0].Key)
		_, o := offer(t, w, w.As(w.A, principal.Owner))
		fileAt(t, w, o, from, from, from)
		in := request.ReportInput{From: &from, To: &later}
		_, _, err := op.Run(w.As(w.A, principal.Agent), w.Engine, request.ReportOfTwo, in, nil)
		require.Equal(t, []string{"from"}, faultsOf(err), "%v", err)
		testkit.Run(t, w, w.As(w.A, principal.Agent), request.ReportOfThree, in)
	})
}

// faultsOf names the fields of an error.
func faultsOf(err error) (fields []string) {
	if err == nil {
		return nil
	}
	for _, d := range apperr.From(err).Details {
		fields = append(fields, d.Field)
	}
	return fields
}

// A company reads one report at a time, and others go on meanwhile. The places are the process's, so one of the databases is tried after
// the other.
func TestReportsTakeTurns(t *testing.T) {
	t.Parallel()
	var alone sync.Mutex
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		alone.Lock()
		defer alone.Unlock()
		in := request.ReportInput{From: new(w.Clock.Now()), To: new(w.Clock.Now().Add(time.Hour))}
		leave, err := request.TakeReport(t.Context(), w.A.Company.ID)
		require.NoError(t, err)
		waiting, stop := context.WithTimeout(w.As(w.A, principal.Agent), 500*time.Millisecond)
		defer stop()
		_, _, err = op.Run(waiting, w.Engine, request.Report, in, nil)
		require.Equal(t, apperr.Unavailable, codeOf(err))
		require.Equal(t, 5, apperr.From(err).RetryAfter)
		testkit.Run(t, w, w.As(w.B, principal.Agent), request.Report, in)
		leave()
		testkit.Run(t, w, w.As(w.A, principal.Agent), request.Report, in)
	})
}
