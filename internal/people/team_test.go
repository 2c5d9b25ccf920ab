package people_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
)

func null[T any]() (p op.Patch[T]) {
	_ = p.UnmarshalJSON([]byte("null"))
	return p
}

func TestCreateTeam(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		org := must(w.asAdmin, w, people.CreateOrganization, people.CreateOrganizationInput{Name: "Ops"})
		got := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{
			Name: "Service Desk", Description: new("Answers"), OrganizationID: &org.ID, MemberIDs: []string{w.member.ID, w.agent.ID},
		})
		require.Equal(t, "service-desk", got.Slug)
		require.Equal(t, "Answers", got.Description)
		require.Equal(t, org.ID, *got.OrganizationID)
		require.Equal(t, []string{w.agent.ID, w.member.ID}, people.MemberIDs(got))
		require.Equal(t, []string{got.ID}, people.TeamIDs(must(w.asAdmin, w, people.GetUser, byID(w.agent.ID))))
		sameTeam(t, w, got)

		refused(w.asAdmin, w, apperr.Conflict, people.CreateTeam, people.CreateTeamInput{Name: "Service desk"})
		must(w.asOther, w, people.CreateTeam, people.CreateTeamInput{Name: "Service desk"})
		bare := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Bare"})
		require.Equal(t, []string{}, people.MemberIDs(bare))

		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("team.created")).Order(auditentry.ByID()).First(w.asOwner)
		require.NoError(t, err)
		require.Equal(t, got.ID, *entry.ResourceID)
		require.Contains(t, string(entry.Changes), `"memberIds"`)
	})
}

func TestTeamNamesFaults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		theirs := must(w.asOther, w, people.CreateOrganization, people.CreateOrganizationInput{Name: "Theirs"})
		mine := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "Mine", MemberIDs: []string{w.member.ID}})
		for _, c := range []struct {
			org     *string
			members []string
			want    []string
		}{
			{&theirs.ID, []string{w.member.ID, w.otherOwner.ID}, []string{"organizationId", "memberIds[1]"}},
			{nil, []string{"nobody", w.member.ID}, []string{"memberIds[0]"}},
			{nil, []string{mine.ID}, []string{"memberIds[0]"}},
			{nil, []string{w.member.ID, w.member.ID}, []string{"memberIds"}},
			{new(""), nil, []string{"organizationId"}},
		} {
			e := refused(w.asAdmin, w, apperr.Validation, people.CreateTeam, people.CreateTeamInput{Name: "X", OrganizationID: c.org, MemberIDs: c.members})
			require.Equal(t, c.want, fields(e))
			in := people.UpdateTeamInput{ByID: byID(mine.ID), MemberIDs: op.SetTo(c.members)}
			if c.org != nil {
				in.OrganizationID = op.SetTo(*c.org)
			}
			require.Equal(t, c.want, fields(refused(w.asAdmin, w, apperr.Validation, people.UpdateTeam, in)))
		}
		require.Equal(t, []string{w.member.ID}, people.MemberIDs(must(w.asAdmin, w, people.GetTeam, byID(mine.ID))))
	})
}

func TestUpdateTeam(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		org := must(w.asAdmin, w, people.CreateOrganization, people.CreateOrganizationInput{Name: "Ops"})
		first := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A", OrganizationID: &org.ID, MemberIDs: []string{w.member.ID, w.agent.ID}})
		got := must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(first.ID), MemberIDs: op.SetTo([]string{w.owner.ID, w.agent.ID})})
		require.Equal(t, []string{w.owner.ID, w.agent.ID}, people.MemberIDs(got), "by id: the owner was made first")
		require.True(t, got.UpdatedAt.After(first.UpdatedAt))
		sameTeam(t, w, got)
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("team.updated")).Only(w.asOwner)
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"memberIds": {"from": [%q, %q], "to": [%q, %q]}}`, w.agent.ID, w.member.ID, w.owner.ID, w.agent.ID), string(entry.Changes))

		got = must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{
			ByID: byID(first.ID), Name: op.SetTo("B"), Slug: op.SetTo("b"), Description: op.SetTo("d"), OrganizationID: null[string](),
		})
		require.Nil(t, got.OrganizationID)
		require.Len(t, people.MemberIDs(got), 2, "what is not named stays")
		sameTeam(t, w, got)
		got = must(w.asAdmin, w, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(first.ID), Description: null[string](), MemberIDs: op.SetTo([]string{})})
		require.Empty(t, got.Description)
		require.Equal(t, []string{}, people.MemberIDs(got))
		sameTeam(t, w, got)

		must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "C"})
		refused(w.asAdmin, w, apperr.Conflict, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(first.ID), Slug: op.SetTo("c")})
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(first.ID), Name: op.SetTo("Z")})
		refused(w.asOther, w, apperr.NotFound, people.UpdateTeam, people.UpdateTeamInput{ByID: byID(first.ID), Name: op.SetTo("Z")})
		refused(w.asOther, w, apperr.NotFound, people.GetTeam, byID(first.ID))
		refused(w.asOther, w, apperr.NotFound, people.DeleteTeam, byID(first.ID))
	})
}

// sameTeam holds what a write returned against a read: the ETag is made of it.
func sameTeam(t *testing.T, w *world, got *ent.Team) {
	t.Helper()
	read := must(w.AsUser(w.agent), w, people.GetTeam, byID(got.ID))
	require.Equal(t, people.MemberIDs(read), people.MemberIDs(got))
	require.Equal(t, read.UpdatedAt.UnixMilli(), got.UpdatedAt.UnixMilli())
	require.Equal(t, []any{read.Name, read.Slug, read.Description, read.OrganizationID}, []any{got.Name, got.Slug, got.Description, got.OrganizationID})
}

func TestListTeams(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, name := range []string{"C", "A", "B"} {
			must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: name, MemberIDs: []string{w.agent.ID, w.member.ID}})
		}
		must(w.asOther, w, people.CreateTeam, people.CreateTeamInput{Name: "Z"})
		got := must(w.AsUser(w.agent), w, people.ListTeams, people.ListTeamsInput{Page: paging.Page{Sort: "-name", Size: 2}})
		require.Equal(t, 3, got.Total)
		require.Len(t, got.Rows, 2)
		require.Equal(t, "C", got.Rows[0].Name)
		require.Equal(t, []string{w.agent.ID, w.member.ID}, people.MemberIDs(got.Rows[1]))
		users := must(w.AsUser(w.agent), w, people.ListUsers, people.ListUsersInput{Role: []string{"agent"}})
		require.Len(t, people.TeamIDs(users.Rows[0]), 3)
	})
}

func TestDeleteTeam(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		team := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A", MemberIDs: []string{w.member.ID}})
		svc := must(w.asAdmin, w, catalog.CreateService, catalog.CreateServiceInput{Name: "S", OwnerTeamID: &team.ID})
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteTeam, byID(team.ID))
		must(w.asAdmin, w, catalog.UpdateService, catalog.UpdateServiceInput{ByID: byID(svc.ID), OwnerTeamID: null[string]()})

		off := must(w.asAdmin, w, catalog.CreateOffering, catalog.CreateOfferingInput{ByID: byID(svc.ID), Name: "O"})
		var req string
		w.system(func(ctx context.Context, tx *store.Tx) {
			req = tx.Request.Create().SetCompanyID(w.co).SetServiceID(svc.ID).SetOfferingID(off.ID).SetTitle("R").
				SetCreatedBy(w.member.ID).SetTeamID(team.ID).SaveX(ctx).ID
		})
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteTeam, byID(team.ID))
		require.Equal(t, []string{"failed", "failed"}, w.audited("team.deleted"))
		w.system(func(ctx context.Context, tx *store.Tx) { tx.Request.UpdateOneID(req).ClearTeamID().ExecX(ctx) })

		w.system(func(ctx context.Context, tx *store.Tx) {
			tx.Offering.UpdateOneID(off.ID).SetSLAEscalations([]sla.Escalation{{AfterMinutes: 5, Of: "response", Do: "notify", TeamID: &team.ID}}).ExecX(ctx)
		})
		refused(w.asAdmin, w, apperr.Conflict, people.DeleteTeam, byID(team.ID))
		w.system(func(ctx context.Context, tx *store.Tx) {
			tx.Offering.UpdateOneID(off.ID).ClearSLAEscalations().ExecX(ctx)
		})

		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.DeleteTeam, byID(team.ID))
		must(w.asAdmin, w, people.DeleteTeam, byID(team.ID))
		refused(w.asAdmin, w, apperr.NotFound, people.GetTeam, byID(team.ID))
		require.Empty(t, people.TeamIDs(must(w.asAdmin, w, people.GetUser, byID(w.member.ID))))
		must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A"}) // its slug is free again
	})
}
