package request_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// comment writes a comment with a visibility; empty for the default.
func comment(w *testkit.World, ctx context.Context, r *ent.Request, visibility string) (*ent.Comment, error) {
	in := request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "Said " + visibility}
	if visibility != "" {
		in.Visibility = &visibility
	}
	c, _, err := op.Run(ctx, w.Engine, request.CreateComment, in, nil)
	return c, err
}

// bodies returns the comments that a caller finds on a request, by the list and by a connection of the
// graph alike.
func bodies(t *testing.T, w *testkit.World, ctx context.Context, r *ent.Request) []string {
	t.Helper()
	list := testkit.Run(t, w, ctx, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: r.ID}, Page: paging.Page{Sort: "createdAt"}})
	in := paging.OfParents{IDs: []string{r.ID}}
	in.SetWindow(1, "", "createdAt", true) // a hidden comment would take a visible one's place on the page
	window := testkit.Run(t, w, ctx, request.CommentsOf, in)[r.ID]
	require.Equal(t, list.Total, window.Total)
	out := []string{}
	for _, c := range list.Rows {
		out = append(out, c.Body)
	}
	if len(out) > 0 {
		require.Equal(t, out[0], window.Rows[0].Body)
	}
	return out
}

// Members see and write only public comments on their own requests; agents see and write all.
func TestCommentsByRole(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		member, agent, admin := w.As(w.A, principal.Member), w.As(w.A, principal.Agent), w.As(w.A, principal.Admin)
		_, o := offer(t, w, w.As(w.A, principal.Owner))
		theirs, other := file(t, w, member, o, "The member's"), file(t, w, agent, o, "The agent's")
		internal, err := comment(w, agent, theirs, "internal")
		require.NoError(t, err)
		public, err := comment(w, agent, theirs, "public")
		require.NoError(t, err)
		own, err := comment(w, member, theirs, "")
		require.NoError(t, err)
		require.EqualValues(t, "public", own.Visibility)
		require.Equal(t, w.A.Users[principal.Member].ID, own.AuthorID)
		elsewhere, err := comment(w, agent, other, "")
		require.NoError(t, err)

		require.Equal(t, []string{"Said public", "Said "}, bodies(t, w, member, theirs))
		require.Equal(t, []string{"Said internal", "Said public", "Said "}, bodies(t, w, agent, theirs))
		testkit.Run(t, w, member, request.GetComment, op.ByID{ID: public.ID})
		for what, err := range map[string]error{
			"write an internal one":      second(comment(w, member, theirs, "internal")),
			"make one internal":          run(w, member, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: own.ID}, Visibility: op.SetTo("internal")}),
			"read an internal one":       run(w, member, request.GetComment, op.ByID{ID: internal.ID}),
			"comment on another's":       second(comment(w, member, other, "")),
			"list another's":             run(w, member, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: other.ID}}),
			"read on another's":          run(w, member, request.GetComment, op.ByID{ID: elsewhere.ID}),
			"change another's comment":   run(w, member, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: public.ID}, Body: op.SetTo("x")}),
			"change it as an admin":      run(w, admin, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: own.ID}, Body: op.SetTo("x")}),
			"delete it as an admin":      run(w, admin, request.DeleteComment, op.ByID{ID: own.ID}),
			"delete an agent's internal": run(w, admin, request.DeleteComment, op.ByID{ID: internal.ID}),
		} {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), what)
		}
		in := paging.OfParents{IDs: []string{other.ID}}
		in.SetWindow(10, "", "", true)
		require.Zero(t, testkit.Run(t, w, member, request.CommentsOf, in)[other.ID].Total)
		for _, err := range []error{
			second(comment(w, w.As(w.B, principal.Owner), theirs, "")), run(w, w.As(w.B, principal.Owner), request.GetComment, op.ByID{ID: public.ID}),
		} {
			require.Equal(t, apperr.NotFound, apperr.CodeOf(err))
		}

		changed := testkit.Run(t, w, member, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: own.ID}, Body: op.SetTo("Said again")})
		require.Equal(t, "Said again", changed.Body)
		testkit.Run(t, w, member, request.DeleteComment, op.ByID{ID: own.ID})
		require.Equal(t, []string{"Said public"}, bodies(t, w, member, theirs))
		entries, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.ResourceID(own.ID), auditentry.OutcomeEQ("allowed")).
			Order(auditentry.ByID()).Select(auditentry.FieldAction).Strings(w.As(w.A, principal.Owner))
		require.NoError(t, err)
		require.Equal(t, []string{"comment.created", "comment.updated", "comment.deleted"}, entries)

		// Somebody who has become a member may not change even the internal comments that they wrote as
		// an agent.
		p, ok := principal.From(agent)
		require.True(t, ok)
		demoted := *p
		demoted.Role = principal.Member
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(run(w, principal.With(agent, &demoted), request.UpdateComment, request.UpdateCommentInput{
			ByID: op.ByID{ID: public.ID}, Body: op.SetTo("x"),
		})))
	})
}

// The comments on a hidden request are hidden, too.
func TestCommentsFollowTheirRequest(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, agent := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent)
		_, o := offer(t, w, owner)
		hidden, open := file(t, w, owner, o, "Merger"), file(t, w, owner, o, "Laptop")
		below, err := comment(w, agent, hidden, "")
		require.NoError(t, err)
		beside, err := comment(w, agent, open, "")
		require.NoError(t, err)
		deny := policy.NewCondition([]byte(`{"resource.title": "Merger", "principal.role": "agent"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "Mergers", Effect: "Deny", Action: "read", Resource: "Request", Condition: &deny})
		for what, err := range map[string]error{
			"read":    run(w, agent, request.GetComment, op.ByID{ID: below.ID}),
			"list":    run(w, agent, request.ListComments, request.ListCommentsInput{ByID: op.ByID{ID: hidden.ID}}),
			"comment": second(comment(w, agent, hidden, "")),
			"change":  run(w, agent, request.UpdateComment, request.UpdateCommentInput{ByID: op.ByID{ID: below.ID}, Body: op.SetTo("x")}),
			"delete":  run(w, agent, request.DeleteComment, op.ByID{ID: below.ID}),
		} {
			require.Equal(t, apperr.Forbidden, apperr.CodeOf(err), what)
		}
		in := paging.OfParents{IDs: []string{hidden.ID, open.ID}}
		in.SetWindow(10, "", "", true)
		lists := testkit.Run(t, w, agent, request.CommentsOf, in)
		require.Zero(t, lists[hidden.ID].Total)
		require.Equal(t, beside.ID, lists[open.ID].Rows[0].ID)

		mute := policy.NewCondition([]byte(`{"resource.authorId": "${principal.id}", "resource.visibility": "internal"}`))
		testkit.Run(t, w, owner, policy.Create, policy.CreateInput{Name: "No notes", Effect: "Deny", Action: "create", Resource: "Comment", Condition: &mute})
		require.Equal(t, apperr.Forbidden, apperr.CodeOf(second(comment(w, agent, open, "internal"))))
		require.NoError(t, second(comment(w, agent, open, "public")))
	})
}

// run runs an operation and returns only its error.
func run[In, Out any](w *testkit.World, ctx context.Context, o *op.Operation[In, Out], in In) error {
	_, _, err := op.Run(ctx, w.Engine, o, in, nil)
	return err
}

func second[T any](_ T, err error) error { return err }
