package paging_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/billing"
	"atrium/internal/desk/catalog"
	requests "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/auditlog"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// windows reads a list from its beginning to its end, in windows of a size.
func windows[T any](t *testing.T, size int, sort string, read func(paging.Page) (paging.List[T], error)) []T {
	t.Helper()
	var all []T
	after := ""
	for {
		var p paging.Page
		p.SetWindow(size, after, sort, true)
		l, err := read(p)
		require.NoError(t, err)
		require.LessOrEqual(t, len(l.Rows), size)
		all = append(all, l.Rows...)
		if !l.More {
			require.Equal(t, l.Total, len(all), "%q: windows overlap or leave gaps", sort)
			return all
		}
		require.Len(t, l.Rows, size)
		after = l.Cursor(l.Rows[size-1])
	}
}

// Windows show every row once, in the order that pages show them in, for each order of a list and for equal keys.
func TestWindowsAreThePages(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		off := offering(t, w)
		ctx := w.As(w.A, principal.Owner)
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for i := range 23 {
				priority := []string{"LOW", "MEDIUM", "HIGH", "URGENT"}[i%4]
				err := tx.Request.Create().SetTitle(fmt.Sprintf("T\"%d\u00e9", i/5)).SetServiceID(off.ServiceID).SetOffering(off).
					SetCreatedBy(w.A.Owner.ID).SetPriorityRank(int8(i%4 + 1)).SetPriority(request.Priority(priority)).Exec(ctx)
				if err != nil {
					return err
				}
			}
			return nil
		}))
		read := func(p paging.Page) (paging.List[*ent.Request], error) {
			l, _, err := op.Run(ctx, w.Engine, requests.List, requests.ListInput{Page: p}, nil)
			return l, err
		}
		for field := range requests.List.Info().Sorts {
			for _, sort := range []string{field, "-" + field} {
				paged, err := read(paging.Page{Size: 100, Sort: sort})
				require.NoError(t, err)
				for _, size := range []int{1, 5, 7, 23, 100} {
					require.Equal(t, idsOf(paged.Rows), idsOf(windows(t, size, sort, read)), "%s by %d", sort, size)
				}
			}
		}
		entries, err := audits(ctx, w, paging.Page{Size: 100})
		require.NoError(t, err)
		require.Equal(t, entries.Total, len(windows(t, 2, "", func(p paging.Page) (paging.List[*ent.AuditEntry], error) { return audits(ctx, w, p) })))
	})
}

func audits(ctx context.Context, w *testkit.World, p paging.Page) (paging.List[*ent.AuditEntry], error) {
	l, _, err := op.Run(ctx, w.Engine, auditlog.ListEntries, auditlog.ListEntriesInput{Page: p}, nil)
	return l, err
}

func idsOf(rows []*ent.Request) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.ID
	}
	return out
}

// Rows that come and go while somebody pages neither repeat nor hide others.
func TestWindowsStandStill(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		create := func(name string) *ent.Team {
			return testkit.Run(t, w, ctx, people.CreateTeam, people.CreateTeamInput{Name: name})
		}
		b, d, f := create("b"), create("d"), create("f")
		read := func(after string) paging.List[*ent.Team] {
			in := people.ListTeamsInput{}
			in.SetWindow(1, after, "name", true)
			return testkit.Run(t, w, ctx, people.ListTeams, in)
		}
		first := read("")
		require.Equal(t, b.ID, first.Rows[0].ID)
		create("a")
		create("c")
		testkit.Run(t, w, ctx, people.DeleteTeam, op.ByID{ID: b.ID}) // the row that the cursor names
		second := read(first.Cursor(first.Rows[0]))
		require.Equal(t, "c", second.Rows[0].Name)
		third := read(second.Cursor(second.Rows[0]))
		require.Equal(t, d.ID, third.Rows[0].ID)
		last := read(third.Cursor(third.Rows[0]))
		require.Equal(t, f.ID, last.Rows[0].ID)
		require.False(t, last.More)
		require.Equal(t, 5-1, last.Total)
		past := read(last.Cursor(last.Rows[0]))
		require.Empty(t, past.Rows)
		require.False(t, past.More)
	})
}

// What is no cursor of a list in its order is a fault of "after", and no statement is sent.
func TestBrokenCursors(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "One"})
		list := func(after, sort string) (paging.List[*ent.Service], error) {
			in := catalog.ListServicesInput{}
			in.SetWindow(5, after, sort, false)
			l, _, err := op.Run(ctx, w.Engine, catalog.ListServices, in, nil)
			return l, err
		}
		l, err := list("", "name")
		require.NoError(t, err)
		require.Zero(t, l.Total, "nobody asked for it")
		good := l.Cursor(l.Rows[0])
		_, err = list(good, "name")
		require.NoError(t, err)
		text := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		for _, c := range []struct{ after, sort string }{
			{good, "-name"}, {good, ""}, {good, "createdAt"}, {good + "x", "name"}, {good[:len(good)-3], "name"}, {"%%%", "name"}, {"svc_1", "name"},
			{text(`{}`), "name"}, {text(`[]`), "name"}, {text(`{"s":"name","k":["a"]}`), "name"}, {text(`{"s":"name","k":[1,"svc_1"]}`), "name"},
			{text(`{"s":"name","k":[null,{}]}`), "name"}, {text(`{"s":"name","k":["a\u0000","svc_1"]}`), "name"},
			{text(`{"s":"","k":["yesterday","svc_1"]}`), ""}, {text(`{"s":"","k":[1,"svc_1"]}`), ""}, {strings.Repeat("A", 1<<16), "name"},
		} {
			_, err := list(c.after, c.sort)
			require.Equal(t, []apperr.Detail{{Field: "after", Message: "Is no cursor of this list."}}, refused(t, err, apperr.Validation).Details, "%q", c.after)
		}
	})
}

// Each parent has its own window and its own total.
func TestListEach(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		var parents []string
		for n := range 4 {
			s := testkit.Run(t, w, ctx, catalog.CreateService, catalog.CreateServiceInput{Name: fmt.Sprint("S", n)})
			parents = append(parents, s.ID)
			for i := range n * 2 {
				testkit.Run(t, w, ctx, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: fmt.Sprint("F", i)})
			}
		}
		foreign := w.As(w.B, principal.Owner)
		read := func(ctx context.Context, size int, after string) map[string]paging.List[*ent.Offering] {
			in := catalog.OfferingsOfInput{OfParents: paging.OfParents{IDs: parents}}
			in.SetWindow(size, after, "", true)
			return testkit.Run(t, w, ctx, catalog.OfferingsOf, in)
		}
		lists := read(ctx, 3, "")
		for n, id := range parents {
			l := lists[id]
			require.Equal(t, n*2, l.Total)
			require.Len(t, l.Rows, min(n*2, 3))
			require.Equal(t, n*2 > 3, l.More)
			require.True(t, slices.IsSortedFunc(l.Rows, func(a, b *ent.Offering) int { return -strings.Compare(a.ID, b.ID) }), "the newest first")
			for _, o := range l.Rows {
				require.Equal(t, id, o.ServiceID)
			}
		}
		last := lists[parents[3]]
		rest := read(ctx, 3, last.Cursor(last.Rows[2]))[parents[3]]
		require.Len(t, rest.Rows, 3)
		require.False(t, rest.More)
		for _, l := range read(foreign, 3, "") {
			require.Empty(t, l.Rows, "another company's parents have no children here")
			require.Zero(t, l.Total)
		}
	})
}

// The history tells the balance after each entry, on every window of it.
func TestHistoryTellsTheBalance(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		operator := principal.With(t.Context(), principal.Operator(w.A.Company.ID, "test"))
		var want []int64
		sum := int64(0)
		for i := range 7 {
			amount := int64(100 * (i + 1))
			testkit.Run(t, w, operator, billing.IssueCredit, billing.IssueCreditInput{Amount: amount, Reason: "promotion", Description: "x"})
			sum += amount
			want = append([]int64{sum}, want...)
		}
		for _, size := range []int{1, 3, 100} {
			var got []int64
			for _, e := range windows(t, size, "", func(p paging.Page) (paging.List[*ent.CreditEntry], error) {
				l, _, err := op.Run(ctx, w.Engine, billing.ListHistory, billing.ListHistoryInput{Page: p}, nil)
				return l, err
			}) {
				got = append(got, e.Balance)
			}
			require.Equal(t, want, got, "by %d", size)
		}
		balance := testkit.Run(t, w, ctx, billing.GetBalance, billing.GetBalanceInput{})
		require.Equal(t, &billing.Balance{Balance: sum, Currency: "usd"}, balance)
	})
}
