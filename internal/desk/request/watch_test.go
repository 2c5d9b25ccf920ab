package request_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// watchers returns the ids of those who watch a request, as somebody is told.
func (w *watch) watchers(ctx context.Context, id string) (ids []string) {
	w.t.Helper()
	in := request.PeopleInput{ByID: op.ByID{ID: id}, Number: 1, Size: 100}
	for _, one := range testkit.Run(w.t, w.World, ctx, request.ListWatchers, in).Rows {
		ids = append(ids, one.ID)
	}
	return ids
}

// People watch what they may read, and staff have others watch it; who is assigned, mentioned or comments watches by that.
func TestWatchers(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, agent, admin := w.A.Users[principal.Member], w.A.Users[principal.Agent], w.A.Users[principal.Admin]
		own, staff := w.AsUser(member), w.AsUser(agent)
		r := w.file(own, w.offer(catalog.SLA{}))
		by := op.ByID{ID: r.ID}
		require.Empty(t, w.watchers(own, r.ID), "its requester hears of it anyway")

		testkit.Run(t, w.World, own, request.CreateComment, request.CreateCommentInput{ByID: by, Body: "Is it here?"})
		require.Empty(t, w.watchers(own, r.ID))
		testkit.Run(t, w.World, staff, request.CreateComment, request.CreateCommentInput{ByID: by, Body: "@" + admin.Email + " knows"})
		require.ElementsMatch(t, []string{agent.ID, admin.ID}, w.watchers(own, r.ID))
		w.patch(staff, r.ID, request.UpdateInput{AssigneeID: op.SetTo(w.A.Owner.ID)})
		require.ElementsMatch(t, []string{agent.ID, admin.ID, w.A.Owner.ID}, w.watchers(staff, r.ID))

		for range 2 {
			testkit.Run(t, w.World, staff, request.Unwatch, request.UnwatchInput{ByID: by})
		}
		testkit.Run(t, w.World, staff, request.Unwatch, request.UnwatchInput{ByID: by, UserID: admin.ID}) // staff remove others
		for range 2 {
			testkit.Run(t, w.World, own, request.Watch, request.WatchInput{ByID: by})
		}
		require.ElementsMatch(t, []string{w.A.Owner.ID, member.ID}, w.watchers(staff, r.ID))
		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(r.ID), auditentry.Action("request.watched")).All(w.owner)
		require.NoError(t, err)
		require.Len(t, slices.DeleteFunc(entries, func(e *ent.AuditEntry) bool { return len(e.Changes) == 0 }), 1, "what changes nothing tells of no change")
		found := func(ctx context.Context) int {
			in := request.ListInput{Watching: []string{"me"}}
			in.Page.Size = 20
			return testkit.Run(t, w.World, ctx, request.List, in).Total
		}
		require.Equal(t, []int{1, 0, 1}, []int{found(own), found(staff), found(w.owner)})
	})
}

// Nobody watches what they may not read, and members name nobody but themselves, to add or to remove.
func TestWatchersWhoAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		member, gone := w.A.Users[principal.Member], w.A.Users[principal.Admin]
		testkit.Run(t, w.World, w.owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: gone.ID}})
		o := w.offer(catalog.SLA{})
		theirs, other := w.file(w.AsUser(member), o), w.file(w.owner, o)
		try := func(ctx context.Context, id string, user *string) apperr.Code {
			_, _, err := op.Run(ctx, w.Engine, request.Watch, request.WatchInput{ByID: op.ByID{ID: id}, UserID: user}, nil)
			return apperr.CodeOf(err)
		}
		require.Equal(t, apperr.Forbidden, try(w.AsUser(member), other.ID, nil))
		require.Equal(t, apperr.NotFound, try(w.As(w.B, principal.Owner), theirs.ID, nil))
		require.Equal(t, apperr.Forbidden, try(w.AsUser(member), theirs.ID, &w.A.Owner.ID))
		for _, id := range []string{w.B.Owner.ID, gone.ID, "usr_none"} {
			require.Equal(t, apperr.Validation, try(w.owner, theirs.ID, &id), id)
		}
		require.Empty(t, w.watchers(w.owner, theirs.ID))

		testkit.Run(t, w.World, w.owner, request.Watch, request.WatchInput{ByID: op.ByID{ID: theirs.ID}})
		remove := func(ctx context.Context) apperr.Code {
			_, _, err := op.Run(ctx, w.Engine, request.Unwatch, request.UnwatchInput{ByID: op.ByID{ID: theirs.ID}, UserID: w.A.Owner.ID}, nil)
			return apperr.CodeOf(err)
		}
		require.Equal(t, apperr.Forbidden, remove(w.AsUser(member)))
		require.Equal(t, apperr.NotFound, remove(w.As(w.B, principal.Owner)))
		require.Equal(t, []string{w.A.Owner.ID}, w.watchers(w.owner, theirs.ID))
	})
}

// A text in Markdown has blocks; a plain one has none, whatever is in it.
func TestFormats(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		o := w.offer(catalog.SLA{})
		r := testkit.Run(t, w.World, w.owner, request.Create, request.CreateInput{
			ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop", Description: new("**14** inch"), Format: new("markdown"),
		})
		content := func(format, text string) string {
			raw, err := request.Content(format, text)
			require.NoError(t, err)
			return string(raw)
		}
		require.JSONEq(t, `[{"type": "paragraph", "children": [{"type": "strong", "children": [{"type": "text", "text": "14"}]}, {"type": "text", "text": " inch"}]}]`,
			content(string(r.Format), r.Description))
		r = w.patch(w.owner, r.ID, request.UpdateInput{Format: op.SetTo("plain")})
		require.Empty(t, content(string(r.Format), r.Description))
		c := testkit.Run(t, w.World, w.owner, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "`x`", Format: new("markdown")})
		require.Equal(t, "markdown", string(c.Format))
		c = testkit.Run(t, w.World, w.owner, request.CreateComment, request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "`x`"})
		require.Equal(t, "plain", string(c.Format))
	})
}
