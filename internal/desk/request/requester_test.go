package request_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/policy"
	"atrium/internal/test/testkit"
)

// Staff file for somebody else, by id or by address; it is that person's request then, with all that members may do with their own.
func TestRequester(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		staff, member := w.A.Users[principal.Agent], w.A.Users[principal.Member]
		own := w.AsUser(member)
		o := w.offer(catalog.SLA{})
		in := request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop"}
		listed := func(ctx context.Context, in request.ListInput) int {
			in.Page.Size = 20
			return testkit.Run(t, w.World, ctx, request.List, in).Total
		}

		for _, named := range []request.CreateInput{{RequesterID: &member.ID}, {RequesterEmail: new(strings.ToUpper(member.Email))}} {
			in.RequesterID, in.RequesterEmail = named.RequesterID, named.RequesterEmail
			r := testkit.Run(t, w.World, w.AsUser(staff), request.Create, in)
			require.Equal(t, staff.ID, r.CreatedBy)
			require.Equal(t, member.ID, r.RequesterID)
			require.Equal(t, r.Title, testkit.Run(t, w.World, own, request.Get, op.ByID{ID: r.ID}).Title)
		}
		require.Equal(t, 2, listed(own, request.ListInput{}))
		require.Equal(t, 2, listed(w.owner, request.ListInput{RequesterID: []string{member.ID}}))
		require.Zero(t, listed(w.owner, request.ListInput{RequesterID: []string{staff.ID}}))

		// They answer, reopen and cancel it. What who filed it says is no answer of theirs.
		in.RequesterID, in.RequesterEmail = &member.ID, nil
		r := testkit.Run(t, w.World, w.AsUser(staff), request.Create, in)
		testkit.Run(t, w.World, w.owner, request.SetWaiting, request.WaitingInput{ByID: op.ByID{ID: r.ID}, Waiting: true})
		say := request.CreateCommentInput{ByID: op.ByID{ID: r.ID}, Body: "It has arrived."}
		testkit.Run(t, w.World, w.AsUser(staff), request.CreateComment, say)
		require.True(t, w.get(r.ID).Waiting)
		testkit.Run(t, w.World, own, request.CreateComment, say)
		require.False(t, w.get(r.ID).Waiting)
		w.patch(own, r.ID, request.UpdateInput{Status: op.SetTo("CANCELLED")})
	})
}

// Members file for themselves alone; nobody files for somebody of another company, who is gone, or whom they do not see.
func TestRequestersWhoAreRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, world *testkit.World) {
		w := newWatch(t, world)
		o := w.offer(catalog.SLA{})
		member, gone := w.A.Users[principal.Member], w.A.Users[principal.Admin]
		testkit.Run(t, w.World, w.owner, people.DeactivateUser, people.DeactivateUserInput{ByID: op.ByID{ID: gone.ID}})
		file := func(ctx context.Context, id, email *string) *apperr.Error {
			_, _, err := op.Run(ctx, w.Engine, request.Create, request.CreateInput{ServiceID: o.ServiceID, OfferingID: o.ID, Title: "A laptop", RequesterID: id, RequesterEmail: email}, nil)
			if err == nil {
				return nil
			}
			return apperr.From(err)
		}
		require.Nil(t, file(w.AsUser(member), &member.ID, nil), "for oneself")
		require.Nil(t, file(w.AsUser(member), nil, &member.Email))
		for _, other := range []string{w.A.Owner.ID, w.B.Owner.ID, "usr_none"} {
			require.Equal(t, apperr.Forbidden, file(w.AsUser(member), &other, nil).Code, "whether there is somebody or not")
		}
		for _, id := range []string{w.B.Owner.ID, gone.ID, "usr_none", o.ID} {
			require.Equal(t, "requesterId", file(w.owner, &id, nil).Details[0].Field)
		}
		for _, email := range []string{w.B.Owner.Email, gone.Email, "nobody@example.com", "nobody"} {
			require.Equal(t, "requesterEmail", file(w.owner, nil, &email).Details[0].Field)
		}
		require.Equal(t, "requesterEmail", file(w.owner, &member.ID, &member.Email).Details[0].Field, "one of the two")
		hide := policy.NewCondition([]byte(`{"resource.id": "` + member.ID + `"}`))
		testkit.Run(t, w.World, w.owner, policy.Create, policy.CreateInput{Name: "Hide", Effect: "Deny", Action: "read", Resource: "User", Condition: &hide})
		require.Equal(t, "requesterId", file(w.As(w.A, principal.Agent), &member.ID, nil).Details[0].Field)
	})
}
