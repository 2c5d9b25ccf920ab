package savedreply_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/desk/request"
	"atrium/internal/desk/savedreply"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// Staff save texts for themselves, a team or everybody, and write them for a request that they may read.
func TestReplies(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner, staff, member := w.As(w.A, principal.Owner), w.As(w.A, principal.Agent), w.As(w.A, principal.Member)
		s := testkit.Run(t, w, owner, catalog.CreateService, catalog.CreateServiceInput{Name: "Hardware", Status: new("active")})
		o := testkit.Run(t, w, owner, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: op.ByID{ID: s.ID}, Name: "Laptop"})
		r := testkit.Run(t, w, member, request.Create, request.CreateInput{ServiceID: s.ID, OfferingID: o.ID, Title: "Slow laptop"})

		saved := testkit.Run(t, w, staff, savedreply.Create, savedreply.CreateInput{
			Name: "Restart", Scope: "company", Body: "Hello {{requester.name}}, about {{ request.number }} “{{request.title}}”: restart it.\n\n{{me.name}}",
		})
		text := testkit.Run(t, w, staff, savedreply.Fill, savedreply.FillInput{ByID: op.ByID{ID: r.ID}, ReplyID: saved.ID})
		require.Equal(t, "Hello "+w.A.Users[principal.Member].Name+", about #1 “Slow laptop”: restart it.\n\n"+w.A.Users[principal.Agent].Name, text)

		mine := testkit.Run(t, w, staff, savedreply.Create, savedreply.CreateInput{Name: "Mine", Scope: "me", Body: "Done."})
		require.Len(t, testkit.Run(t, w, staff, savedreply.List, savedreply.ListInput{}).Rows, 2)
		require.Len(t, testkit.Run(t, w, owner, savedreply.List, savedreply.ListInput{Q: "REST"}).Rows, 1)
		testkit.Refused(t, w, owner, savedreply.Get, op.ByID{ID: mine.ID}, apperr.NotFound)
		testkit.Refused(t, w, member, savedreply.List, savedreply.ListInput{}, apperr.Forbidden, "members answer nobody")
		testkit.Refused(t, w, owner, savedreply.Fill, savedreply.FillInput{ByID: op.ByID{ID: r.ID}, ReplyID: mine.ID}, apperr.NotFound, "what others saved for themselves")
		testkit.Refused(t, w, w.As(w.B, principal.Owner), savedreply.Fill, savedreply.FillInput{ByID: op.ByID{ID: r.ID}, ReplyID: saved.ID}, apperr.NotFound)
		testkit.Refused(t, w, staff, savedreply.Create, savedreply.CreateInput{Name: "X", Scope: "me", Body: "{{requester.password}}"}, apperr.Validation)

		after := testkit.Run(t, w, staff, savedreply.Update, savedreply.UpdateInput{ByID: op.ByID{ID: saved.ID}, Body: op.SetTo("Restart it.")})
		require.Equal(t, "Restart it.", after.Body)
		desk := testkit.Run(t, w, owner, people.CreateTeam, people.CreateTeamInput{Name: "Desk"})
		testkit.Run(t, w, owner, savedreply.Create, savedreply.CreateInput{Name: "Desk's", Scope: "team", TeamID: &desk.ID, Body: "Done."})
		testkit.Run(t, w, owner, people.DeleteTeam, op.ByID{ID: desk.ID})
		testkit.Run(t, w, owner, savedreply.Delete, op.ByID{ID: saved.ID})
		require.Empty(t, testkit.Run(t, w, owner, savedreply.List, savedreply.ListInput{}).Rows, "a team's replies go with it")
	})
}
