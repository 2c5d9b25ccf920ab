package request_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// links returns the links of a request, as somebody sees them.
func (w *watch) links(ctx context.Context, id string) (out []string) {
	w.t.Helper()
	for _, l := range testkit.Run(w.t, w.World, ctx, request.ListLinks, request.PeopleInput{ByID: op.ByID{ID: id}, Number: 1, Size: 100}).Rows {
		out = append(out, fmt.Sprintf("%s %s %s", l.FromID, l.Type, l.ToID))
	}
	return out
}

func (w *watch) link(ctx context.Context, from, kind, to string) (*ent.RequestLink, error) {
	l, _, err := op.Run(ctx, w.Engine, request.CreateLink, request.LinkInput{ByID: op.ByID{ID: from}, Type: kind, RequestID: to}, nil)
	return l, err
}

// Staff link requests; both sides show it, once, and no request comes to block itself or to be its own parent.
func TestLinks(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		staff, o := w.As(w.A, principal.Agent), w.offer(catalog.SLA{})
		a, b, c := w.file(w.owner, o).ID, w.file(w.owner, o).ID, w.file(w.owner, o).ID
		for _, l := range [][3]string{{a, "blocks", b}, {b, "blocks", c}, {a, "parent", c}, {a, "relates", c}} {
			_, err := w.link(staff, l[0], l[1], l[2])
			require.NoError(t, err)
		}
		require.Equal(t, []string{a + " blocks " + b, b + " blocks " + c}, w.links(staff, b))
		require.Len(t, w.links(staff, a), 3)

		for why, l := range map[string][3]string{
			"there already": {a, "blocks", b}, "the same from the other side": {c, "relates", a}, "a circle": {c, "blocks", a},
			"a circle of parents": {c, "parent", a}, "a second parent": {b, "parent", c},
		} {
			_, err := w.link(staff, l[0], l[1], l[2])
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err), why)
		}
		_, err := w.link(staff, a, "relates", a)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err))
		_, err = w.link(w.As(w.A, principal.Member), a, "duplicates", b)
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(err))

		of := testkit.Run(t, w.World, staff, request.LinksOf, paging.ByIDs{IDs: []string{b}})
		testkit.Run(t, w.World, staff, request.DeleteLink, op.ByID{ID: of[b][0].ID})
		require.Equal(t, []string{b + " blocks " + c}, w.links(staff, b))
	})
}

// Who may not read one end of a link is not told of it: not in a list, not by its id, not of another company.
func TestHiddenLinks(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		staff, own, o := w.As(w.A, principal.Agent), w.As(w.A, principal.Member), w.offer(catalog.SLA{})
		mine, other, hidden := w.file(own, o).ID, w.file(w.owner, o).ID, w.file(w.owner, o)
		w.patch(w.owner, hidden.ID, request.UpdateInput{Tags: op.SetTo(map[string]string{"secret": "yes"})})
		_, err := w.link(staff, mine, "relates", other)
		require.NoError(t, err)
		require.Empty(t, w.links(own, mine), "a member reads their own request, and not the other")
		l, err := w.link(staff, hidden.ID, "blocks", other)
		require.NoError(t, err)
		require.Len(t, w.links(staff, other), 2)

		deny := policy.NewCondition([]byte(`{"resource.tags.secret": "yes", "principal.role": "agent"}`))
		testkit.Run(t, w.World, w.owner, policy.Create, policy.CreateInput{Name: "Secrets", Effect: "Deny", Action: "read", Resource: "Request", Condition: &deny})
		require.Equal(t, []string{mine + " relates " + other}, w.links(staff, other))
		testkit.Refused(t, w.World, staff, request.DeleteLink, op.ByID{ID: l.ID}, apperr.Forbidden, "as every row that a policy hides")
		_, err = w.link(staff, other, "relates", hidden.ID)
		require.Equal(t, apperr.Validation, apperr.CodeOf(err), "as one that is not there")
		require.Len(t, w.links(w.owner, other), 2)

		testkit.Refused(t, w.World, w.As(w.B, principal.Owner), request.DeleteLink, op.ByID{ID: l.ID}, apperr.NotFound)
	})
}

// A merged request is cancelled, and whoever was concerned with it watches the one that stays.
func TestMerge(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, admin := w.A.Users[principal.Member], w.A.Users[principal.Admin]
		staff, o := w.As(w.A, principal.Agent), w.offer(catalog.SLA{})
		double, stays := w.file(w.AsUser(member), o), w.file(w.owner, o)
		testkit.Run(t, w.World, w.AsUser(admin), request.Watch, request.WatchInput{ByID: op.ByID{ID: double.ID}})
		merge := func(ctx context.Context, id, into string) error {
			_, _, err := op.Run(ctx, w.Engine, request.Merge, request.MergeInput{ByID: op.ByID{ID: id}, Into: into}, nil)
			return err
		}
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(merge(w.AsUser(member), double.ID, stays.ID)))
		require.Equal(t, apperr.Validation, apperr.CodeOf(merge(staff, double.ID, double.ID)))
		require.NoError(t, merge(staff, double.ID, stays.ID))

		require.EqualValues(t, "CANCELLED", w.get(double.ID).Status)
		require.Equal(t, []string{double.ID + " duplicates " + stays.ID}, w.links(staff, stays.ID))
		require.ElementsMatch(t, []string{member.ID, admin.ID}, w.watchers(staff, stays.ID))
		require.Equal(t, apperr.Conflict, apperr.CodeOf(merge(staff, stays.ID, double.ID)), "into one that is cancelled")
		require.Equal(t, apperr.Conflict, apperr.CodeOf(merge(staff, double.ID, stays.ID)), "it has ended")
	})
}

// The filter finds what is linked with a request, from either end, as far as the caller may read both.
func TestListByLink(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, o := w.As(w.A, principal.Member), w.offer(catalog.SLA{})
		mine, blocked, other := w.file(member, o), w.file(member, o), w.file(w.owner, o)
		for _, pair := range [][2]string{{mine.ID, blocked.ID}, {other.ID, mine.ID}} {
			_, err := w.link(w.owner, pair[0], "blocks", pair[1])
			require.NoError(t, err)
		}
		found := func(as context.Context, ids ...string) (out []string) {
			for _, r := range testkit.Run(t, world, as, request.List, request.ListInput{Link: ids}).Rows {
				out = append(out, r.ID)
			}
			return out
		}
		require.ElementsMatch(t, []string{blocked.ID, other.ID}, found(w.owner, mine.ID))
		require.ElementsMatch(t, []string{blocked.ID, other.ID, mine.ID}, found(w.owner, mine.ID, blocked.ID))
		require.Equal(t, []string{blocked.ID}, found(member, mine.ID), "they may not read the other one")
		require.Empty(t, found(member, other.ID), "nor what is linked with it")
		require.Empty(t, found(w.As(w.B, principal.Owner), mine.ID))
	})
}
