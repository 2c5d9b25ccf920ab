package people_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/people"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
)

func TestListUsers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		all := must(w.asAdmin, w, people.ListUsers, people.ListUsersInput{Page: paging.Page{Sort: "name"}})
		require.Equal(t, 4, all.Total, "the other company's owner is not among them")
		var names []string
		for _, u := range all.Rows {
			names = append(names, u.Name)
		}
		require.Equal(t, []string{w.admin.Name, w.agent.Name, w.member.Name, w.owner.Name}, names)

		must(w.asOwner, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.member.ID)})
		for _, c := range []struct {
			in   people.ListUsersInput
			want int
		}{
			{people.ListUsersInput{Role: []string{"owner", "agent"}}, 2},
			{people.ListUsersInput{Status: []string{"deactivated"}}, 1},
			{people.ListUsersInput{Status: []string{"active"}, Role: []string{"member"}}, 0},
			{people.ListUsersInput{Email: []string{w.agent.Email, w.otherOwner.Email}}, 1},
			{people.ListUsersInput{Email: []string{strings.ToUpper(w.agent.Email)}}, 1},
		} {
			got := must(w.asAdmin, w, people.ListUsers, c.in)
			require.Equal(t, c.want, got.Total, "%+v", c.in)
			require.Len(t, got.Rows, c.want)
		}
		require.Equal(t, []string{"role"}, fields(refused(w.asAdmin, w, apperr.Validation, people.ListUsers, people.ListUsersInput{Role: []string{"king"}})))
		refused(w.AsUser(w.member), w, apperr.Forbidden, people.ListUsers, people.ListUsersInput{})
	})
}

func TestUsersOfOthersAreNotFound(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, id := range []string{w.otherOwner.ID, "usr_00000000000000000000000000", "x"} {
			refused(w.asOwner, w, apperr.NotFound, people.GetUser, byID(id))
			refused(w.asOwner, w, apperr.NotFound, people.UpdateUser, people.UpdateUserInput{ByID: byID(id), Name: op.SetTo("X")})
			refused(w.asOwner, w, apperr.NotFound, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(id)})
			refused(w.asOwner, w, apperr.NotFound, people.ReactivateUser, byID(id))
		}
		require.Equal(t, w.member.ID, must(w.AsUser(w.agent), w, people.GetUser, byID(w.member.ID)).ID)
		refused(w.AsUser(w.member), w, apperr.Forbidden, people.GetUser, byID(w.member.ID))
	})
}

func TestUpdateUser(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A"})
		b := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "B"})
		before := must(w.asAdmin, w, people.GetUser, byID(w.member.ID))

		got := must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{
			ByID: byID(w.member.ID), Name: op.SetTo("Mia"), Role: op.SetTo("agent"),
			Attributes: op.SetTo(map[string]string{"region": "eu"}), TeamIDs: op.SetTo([]string{b.ID, a.ID}),
		})
		require.Equal(t, "Mia", got.Name)
		require.Equal(t, user.RoleAgent, got.Role)
		require.Equal(t, "eu", got.Attributes["region"])
		require.Equal(t, []string{a.ID, b.ID}, people.TeamIDs(got))
		requireSame(t, w, got)

		got = must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{ByID: byID(w.member.ID), TeamIDs: op.SetTo([]string{b.ID})})
		require.Equal(t, "Mia", got.Name, "what is not named stays")
		require.Equal(t, []string{b.ID}, people.TeamIDs(got))
		require.True(t, got.UpdatedAt.After(before.UpdatedAt), "a change of teams is one of the user")
		requireSame(t, w, got)
		require.Equal(t, []string{w.member.ID}, people.MemberIDs(must(w.asAdmin, w, people.GetTeam, byID(b.ID))))
		require.Empty(t, people.MemberIDs(must(w.asAdmin, w, people.GetTeam, byID(a.ID))))

		got = must(w.asAdmin, w, people.UpdateUser, people.UpdateUserInput{
			ByID: byID(w.member.ID), Attributes: null[map[string]string](), TeamIDs: null[[]string](),
		})
		require.Empty(t, got.Attributes)
		require.Empty(t, people.TeamIDs(got))
		requireSame(t, w, got)
		require.Equal(t, []string{"allowed", "allowed", "allowed"}, w.audited("user.updated"))

		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("user.updated")).Order(auditentry.ByID()).First(w.asOwner)
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"name": {"from": %q, "to": "Mia"}, "role": {"from": "member", "to": "agent"},
			"attributes": {"from": null, "to": {"region": "eu"}}, "teamIds": {"from": [], "to": [%q, %q]}}`, w.member.Name, a.ID, b.ID), string(entry.Changes))
	})
}

// requireSame holds what an update returned against a read: the ETag is made of it.
func requireSame(t *testing.T, w *world, u *ent.User) {
	t.Helper()
	read := must(w.asAdmin, w, people.GetUser, byID(u.ID))
	require.Equal(t, people.TeamIDs(read), people.TeamIDs(u))
	require.Equal(t, read.UpdatedAt.UnixMilli(), u.UpdatedAt.UnixMilli())
	require.Equal(t, read.Name, u.Name)
	require.Equal(t, read.Attributes, u.Attributes)
}

func TestUpdateUserNamesFaults(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		mine := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A"})
		theirs := must(w.asOther, w, people.CreateTeam, people.CreateTeamInput{Name: "A"})
		many := map[string]string{}
		for i := range 51 {
			many[fmt.Sprint(i)] = ""
		}
		for name, c := range map[string]struct {
			in   people.UpdateUserInput
			want []string
		}{
			"another company's team": {people.UpdateUserInput{TeamIDs: op.SetTo([]string{mine.ID, theirs.ID, "x"})}, []string{"teamIds[1]", "teamIds[2]"}},
			"a team twice":           {people.UpdateUserInput{TeamIDs: op.SetTo([]string{mine.ID, mine.ID})}, []string{"teamIds"}},
			"role":                   {people.UpdateUserInput{Role: op.SetTo("king")}, []string{"role"}},
			"no role":                {people.UpdateUserInput{Role: null[string]()}, []string{"role"}},
			"blank name":             {people.UpdateUserInput{Name: op.SetTo(" ")}, []string{"name"}},
			"too many attributes":    {people.UpdateUserInput{Attributes: op.SetTo(many)}, []string{"attributes"}},
			"attribute key":          {people.UpdateUserInput{Attributes: op.SetTo(map[string]string{"a b": "", "": ""})}, []string{"attributes.", "attributes.a b"}},
			"attribute value":        {people.UpdateUserInput{Attributes: op.SetTo(map[string]string{"a": strings.Repeat("ä", 257), "b": strings.Repeat("ä", 256)})}, []string{"attributes.a"}},
		} {
			c.in.ID = w.member.ID
			require.Equal(t, c.want, fields(refused(w.asAdmin, w, apperr.Validation, people.UpdateUser, c.in)), name)
		}
		_, details := people.UpdateUser.Decode([]byte(`{"email": "x@y.z", "status": "active"}`), func(string) string { return w.member.ID }, nil)
		require.Equal(t, []string{"email", "status"}, fields(apperr.From(details)), "neither is changed here")
		require.Empty(t, people.TeamIDs(must(w.asAdmin, w, people.GetUser, byID(w.member.ID))))
	})
}

func TestOnlyOwnersChangeOwners(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		second := w.another("second@acme.test")
		role := func(id, role string) people.UpdateUserInput {
			return people.UpdateUserInput{ByID: byID(id), Role: op.SetTo(role)}
		}
		for name, err := range map[string]*apperr.Error{
			"make":       refused(w.asAdmin, w, apperr.Forbidden, people.UpdateUser, role(w.member.ID, "owner")),
			"itself":     refused(w.asAdmin, w, apperr.Forbidden, people.UpdateUser, role(w.admin.ID, "owner")),
			"demote":     refused(w.asAdmin, w, apperr.Forbidden, people.UpdateUser, role(second.ID, "admin")),
			"deactivate": refused(w.asAdmin, w, apperr.Forbidden, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(second.ID)}),
			"invite":     refused(w.asAdmin, w, apperr.Forbidden, people.InviteUser, people.InviteUserInput{Email: "n@acme.test", Role: new("owner")}),
		} {
			require.Equal(t, "admin", err.Reason, name)
			require.NotEmpty(t, err.DecisionID, name)
		}
		require.Equal(t, []string{"denied", "denied", "denied"}, w.audited("user.updated"))
		refused(w.asAdmin, w, apperr.Forbidden, people.UpdateUser, people.UpdateUserInput{ByID: byID(second.ID), Name: op.SetTo("Second")})

		must(w.asOwner, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(second.ID)})
		refused(w.asAdmin, w, apperr.Forbidden, people.ReactivateUser, byID(second.ID))
		must(w.asOwner, w, people.ReactivateUser, byID(second.ID))
		must(w.asOwner, w, people.UpdateUser, role(second.ID, "member"))
		must(w.asOperator, w, people.UpdateUser, role(second.ID, "owner"))
		refused(w.withKey(w.owner), w, apperr.Forbidden, people.UpdateUser, role(second.ID, "admin"))
		must(w.asOwner, w, people.UpdateUser, role(second.ID, "admin"))
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.UpdateUser, role(w.agent.ID, "admin"))
	})
}

func TestLastOwnerKeepsTheRole(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		demote := people.UpdateUserInput{ByID: byID(w.owner.ID), Role: op.SetTo("admin")}
		refused(w.asOwner, w, apperr.Conflict, people.UpdateUser, demote)
		refused(w.asOwner, w, apperr.Conflict, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.owner.ID)})
		must(w.asOwner, w, people.InviteUser, people.InviteUserInput{Email: "next@acme.test", Role: new("owner")})
		refused(w.asOwner, w, apperr.Conflict, people.UpdateUser, demote) // an invitation is no owner yet
		require.Equal(t, []string{"failed", "failed"}, w.audited("user.updated"))
		require.Equal(t, []string{"failed"}, w.audited("user.deactivated"))

		second := w.another("second@acme.test")
		must(w.asOwner, w, people.UpdateUser, demote)
		refused(w.AsUser(second), w, apperr.Conflict, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(second.ID)})
		must(w.AsUser(second), w, people.UpdateUser, people.UpdateUserInput{ByID: byID(second.ID), Role: op.SetTo("owner"), Name: op.SetTo("S")})
	})
}

func TestOwnersDemotingEachOtherLeaveOne(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		owners := []*ent.User{w.owner}
		for i := range 5 {
			owners = append(owners, w.another(fmt.Sprintf("o%d@acme.test", i)))
		}
		var wg sync.WaitGroup
		errs := make([]error, len(owners))
		for i := range owners {
			victim := owners[(i+1)%len(owners)]
			wg.Go(func() {
				if i%2 == 0 {
					_, errs[i] = run(w.AsUser(owners[i]), w, people.UpdateUser, people.UpdateUserInput{ByID: byID(victim.ID), Role: op.SetTo("member")})
				} else {
					_, errs[i] = run(w.AsUser(owners[i]), w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(victim.ID)})
				}
			})
		}
		wg.Wait()
		var conflicts int
		for _, err := range errs {
			if err != nil {
				require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "%v", err)
				conflicts++
			}
		}
		require.Equal(t, 1, conflicts)
		left := must(w.asAdmin, w, people.ListUsers, people.ListUsersInput{Role: []string{"owner"}, Status: []string{"active"}})
		require.Equal(t, 1, left.Total)
	})
}

func TestDeactivateUser(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var live, test string
		w.system(func(ctx context.Context, tx *store.Tx) {
			key := func(of, hash string) *ent.APIKeyCreate {
				return tx.APIKey.Create().SetCompanyID(w.co).SetUserID(of).SetName(hash).SetHash([]byte(hash)).SetPrefix("key_live_").
					SetLast4("abcd").SetScopes([]string{}).SetTest(false).SetCreatedBy(of)
			}
			live = key(w.agent.ID, "1").SetExpiresAt(time.Now().Add(time.Hour)).SaveX(ctx).ID
			key(w.agent.ID, "2").SetRevokedAt(time.Now()).SaveX(ctx)
			key(w.agent.ID, "3").SetExpiresAt(time.Now().Add(-time.Hour)).SaveX(ctx)
			key(w.admin.ID, "4").SaveX(ctx)
			test = key(w.agent.ID, "5").SetTest(true).SaveX(ctx).ID
		})
		refused(w.withKey(w.owner), w, apperr.Forbidden, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID)})
		refused(w.withKey(w.owner), w, apperr.Forbidden, people.ReactivateUser, byID(w.agent.ID))
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.member.ID)})
		refused(w.AsUser(w.member), w, apperr.Forbidden, people.ReactivateUser, byID(w.member.ID))

		team := must(w.asAdmin, w, people.CreateTeam, people.CreateTeamInput{Name: "A", MemberIDs: []string{w.agent.ID}})
		for range 2 { // the second time changes nothing
			out := must(w.asAdmin, w, people.DeactivateUser, people.DeactivateUserInput{ByID: byID(w.agent.ID)})
			require.Equal(t, user.StatusDeactivated, out.User.Status)
			require.Equal(t, []string{team.ID}, people.TeamIDs(out.User))
			var ids []string
			for _, k := range out.RemainingAPIKeys {
				require.Nil(t, k.RevokedAt)
				ids = append(ids, k.ID)
			}
			require.Equal(t, []string{live, test}, ids)
		}
		back := must(w.asAdmin, w, people.ReactivateUser, byID(w.agent.ID))
		require.Equal(t, user.StatusActive, back.Status)
		require.Equal(t, []string{team.ID}, people.TeamIDs(back))
		must(w.asAdmin, w, people.ReactivateUser, byID(w.agent.ID))

		invited := must(w.asAdmin, w, people.InviteUser, people.InviteUserInput{Email: "i@acme.test"})
		refused(w.asAdmin, w, apperr.Conflict, people.ReactivateUser, byID(invited.ID))
	})
}

func TestInviteUser(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		u := must(w.asAdmin, w, people.InviteUser, people.InviteUserInput{Email: "New.Person@Acme.test", Name: new("Nia"), Role: new("agent")})
		require.Equal(t, "new.person@acme.test", u.Email)
		require.Equal(t, user.StatusInvited, u.Status)
		require.Equal(t, user.RoleAgent, u.Role)
		require.Equal(t, "Nia", u.Name)
		require.Equal(t, w.co, u.CompanyID)
		require.Equal(t, u.ID, must(w.asAdmin, w, people.GetUser, byID(u.ID)).ID)

		plain := must(w.asOther, w, people.InviteUser, people.InviteUserInput{Email: "new.person@acme.test"})
		require.Equal(t, u.AccountID, plain.AccountID, "accounts are global")
		require.Equal(t, w.otherOwner.CompanyID, plain.CompanyID)
		require.Equal(t, user.RoleMember, plain.Role)
		require.Equal(t, "new.person", plain.Name)

		refused(w.asAdmin, w, apperr.Conflict, people.InviteUser, people.InviteUserInput{Email: "NEW.person@acme.test"})
		refused(w.asAdmin, w, apperr.Conflict, people.InviteUser, people.InviteUserInput{Email: w.owner.Email})
		require.Equal(t, []string{"allowed", "failed", "failed"}, w.audited("user.invited"))
		entry, err := w.Store.Reader().AuditEntry.Query().Where(auditentry.Action("user.invited")).Order(auditentry.ByID()).First(w.asOwner)
		require.NoError(t, err)
		require.Equal(t, u.ID, *entry.ResourceID)
		require.NotContains(t, string(entry.Changes), u.AccountID)

		for _, bad := range []string{"", "x", "x@", "@x", "a b@x.test", "Bob <b@x.test>", "a@b@c", "a,b@x.test", strings.Repeat("a", 250) + "@x.test"} {
			require.Equal(t, []string{"email"}, fields(refused(w.asAdmin, w, apperr.Validation, people.InviteUser, people.InviteUserInput{Email: bad})), bad)
		}
		refused(w.withKey(w.owner), w, apperr.Forbidden, people.InviteUser, people.InviteUserInput{Email: "k@acme.test"})
		refused(w.AsUser(w.agent), w, apperr.Forbidden, people.InviteUser, people.InviteUserInput{Email: "k@acme.test"})
	})
}

// Two companies that invite one person at the same moment both succeed, and share the account.
func TestCompaniesInviteOnePersonAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 12 {
			in := people.InviteUserInput{Email: fmt.Sprintf("p%d@x.test", i)}
			var wg sync.WaitGroup
			var users [2]*ent.User
			var errs [2]error
			for n, ctx := range []context.Context{w.asOwner, w.asOther} {
				wg.Go(func() { users[n], errs[n] = run(ctx, w, people.InviteUser, in) })
			}
			wg.Wait()
			require.NoError(t, errs[0])
			require.NoError(t, errs[1])
			require.Equal(t, users[0].AccountID, users[1].AccountID)
		}
	})
}

// One company invites a person once.
func TestInviteTwiceAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var wg sync.WaitGroup
		var errs [4]error
		for i := range errs {
			wg.Go(func() { _, errs[i] = run(w.asOwner, w, people.InviteUser, people.InviteUserInput{Email: "p@x.test"}) })
		}
		wg.Wait()
		var conflicts int
		for _, err := range errs {
			if err != nil {
				require.Equal(t, apperr.Conflict, apperr.CodeOf(err), "%v", err)
				conflicts++
			}
		}
		require.Equal(t, len(errs)-1, conflicts)
	})
}

// After the account was looked up as the system, the transaction is the company's again.
func TestInviteLeavesTheGuardsUp(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		invite := op.New("test.invite", op.Spec{Resource: "User", Action: op.Create, AdminLayer: true},
			func(ctx context.Context, tx *op.Tx, in people.InviteUserInput) (string, error) {
				if err := tx.AsSystem(ctx, "test: count all companies", func(ctx context.Context) error {
					require.Equal(t, 4, tx.Company.Query().CountX(ctx), "two and their sandboxes")
					return nil
				}); err != nil {
					return "", err
				}
				driver := ent.DriverOf(tx.Client)
				if driver.Dialect() != dialect.Postgres {
					return w.co, nil
				}
				var rows sql.Rows
				if err := driver.Query(ctx, "SELECT current_setting('app.company_id')", []any{}, &rows); err != nil {
					return "", err
				}
				setting, err := sql.ScanString(rows)
				return setting, errors.Join(err, rows.Close())
			})
		require.Equal(t, w.co, must(w.asOwner, w, invite, people.InviteUserInput{Email: "a@b.test"}))
	})
}
