package people

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

var userSorts = op.Sorts{"createdAt": user.FieldCreatedAt, "updatedAt": user.FieldUpdatedAt, "name": op.Alphabetical(user.FieldName)}

// The operations on users that REST and GraphQL offer. They return users loaded with their memberships. Invitations and
// deactivation, which require a signed-in person, are in invite.go and status.go.
var (
	ListUsers = paging.NewList("user.list", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read", Sorts: userSorts,
		Summary: "List the company's members",
	}, usersOf)

	GetUser = op.Get("user.read", op.Spec{
		Resource: "User", Action: op.Read, Scope: "users:read",
		Summary: "Get a user",
	}, loadUser)

	UpdateUser = op.OnRow("user.update", op.Spec{
		Resource: "User", Action: op.Update, Scope: "users:write",
		Summary: "Update a user",
	}, loadUserToChange, updateUser).WithRowVerbs(updateVerbs).WithCheck(checkUser, "teamIds")
)

// ListUsersInput filters and pages the list of users.
type ListUsersInput struct {
	paging.Page
	Status []string `json:"-" query:"status" enum:"invited,active,deactivated,erased" doc:"Users in any of these states."`
	Role   []string `json:"-" query:"role" enum:"owner,admin,agent,member" doc:"Users with any of these roles."`
	Email  []string `json:"-" query:"email" maxLength:"254" doc:"Users with any of these e-mail addresses, in any case."`
	Q      string   `json:"-" query:"q" maxLength:"200" doc:"Users whose name or e-mail address has these words, or parts of them."`
}

func usersOf(_ context.Context, tx *op.Tx, in ListUsersInput) *ent.UserQuery {
	where := paging.In(nil, in.Status, user.StatusIn)
	where = paging.In(where, in.Role, user.RoleIn)
	emails := make([]string, len(in.Email))
	for i, e := range in.Email {
		emails[i] = strings.ToLower(e) // as they are stored
	}
	where = paging.In(where, emails, user.EmailIn)
	where = paging.Words(where, in.Q, user.FieldName, user.FieldEmail)
	q := tx.User.Query().Where(where...)
	if in.Window == nil { // a caller that reads a window gets memberships by TeamIDsOf
		q.WithMemberships(orderByTeam)
	}
	return q
}

func loadUser(ctx context.Context, tx *op.Tx, id string) (*ent.User, error) {
	return tx.User.Query().Where(user.ID(id)).WithMemberships(orderByTeam).Only(ctx)
}

// loadUserToChange locks the user together with the company's owners, always in the order of their ids. So two owners who
// take each other's role away wait for each other, and never deadlock.
func loadUserToChange(ctx context.Context, tx *op.Tx, id string) (*ent.User, error) {
	q := tx.User.Query().Where(user.Or(user.ID(id), user.RoleEQ(user.RoleOwner))).Order(user.ByID())
	if _, err := op.Lock(tx, q).IDs(tx.Unfiltered(ctx, "every owner is locked, seen or not")); err != nil {
		return nil, fmt.Errorf("lock the user and the owners: %w", err)
	}
	return loadUser(ctx, tx, id)
}

// UpdateUserInput changes the fields that it names. The e-mail address belongs to the account, and status has operations
// of its own.
type UpdateUserInput struct {
	op.ByID
	Name       op.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Role       op.Patch[string]            `json:"role,omitzero" enum:"owner,admin,agent,member" doc:"Giving or taking admin or owner takes a signed-in person with a recent proof; only owners do so with owner."`
	Attributes op.Patch[map[string]string] `json:"attributes,omitzero" nullable:"true" doc:"Replaces all attributes; keys and values are bounded as those of tags."`
	Locale     op.Patch[string]            `json:"locale,omitzero" nullable:"true" enum:"en,de" doc:"The language of their pages and mails."`
	TimeZone   op.Patch[string]            `json:"timeZone,omitzero" nullable:"true" maxLength:"64" doc:"The zone of the times that they are told, by its IANA name."`
	TeamIDs    op.Patch[[]string]          `json:"teamIds,omitzero" nullable:"true" uniqueItems:"true" maxItems:"1000" doc:"Replaces all memberships."`
}

// updateVerbs returns the rights to take the row's role and to give the input's role, and the right to rename an owner.
func updateVerbs(row any, in UpdateUserInput) (verbs []string) {
	u, ok := row.(*ent.User)
	if !ok {
		return nil
	}
	if role, given := op.Given(in.Role); given && user.Role(role) != u.Role {
		verbs = append(ofRole(u.Role), ofRole(user.Role(role))...)
	}
	if name, given := op.Given(in.Name); given && name != u.Name && u.Role == user.RoleOwner {
		verbs = append(verbs, renameOwner)
	}
	return verbs
}

// checkUser returns a validation error for a zone and for teams that there are not.
func checkUser(ctx context.Context, tx *op.Tx, in UpdateUserInput) error {
	var refs op.Refs
	refs.Refused(CheckZone(in.TimeZone))
	if err := teamsExist(ctx, tx, &refs, "teamIds", op.Or(in.TeamIDs.Value(), nil)); err != nil {
		return err
	}
	return refs.Err()
}

func updateUser(ctx context.Context, tx *op.Tx, before *ent.User, in UpdateUserInput) (*ent.User, error) {
	if before.Status == user.StatusErased {
		return nil, errErased()
	}
	if err := checkUser(ctx, tx, in); err != nil {
		return nil, err
	}
	teams := op.Or(in.TeamIDs.Value(), nil)
	u := before.Update()
	op.Set(in.Name, u.SetName)
	if role, ok := op.Given(in.Role); ok && user.Role(role) != before.Role {
		if err := mayLeaveOwners(ctx, tx, before); err != nil {
			return nil, err
		}
		u.SetRole(user.Role(role))
	}
	op.SetOrClear(in.Attributes, u.SetAttributes, u.ClearAttributes)
	op.SetOrClear(in.Locale, u.SetLocale, u.ClearLocale)
	op.SetOrClear(in.TimeZone, u.SetTimeZone, u.ClearTimeZone)
	have := TeamIDs(before) // those that the caller sees; the others stay
	moves := in.TeamIDs.IsSet() && !sameSet(have, teams)
	if moves {
		u.SetUpdatedAt(tx.Now(ctx))
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the user: %w", err)
	}
	after.Edges = before.Edges
	if moves {
		if err := replaceTeams(ctx, tx, after.ID, have, teams); err != nil {
			return nil, err
		}
		after.Edges.Memberships, err = tx.TeamMember.Query().Where(teammember.UserID(after.ID)).Order(teammember.ByTeamID()).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the user's teams: %w", err)
		}
		tx.ChangedField("teamIds", have, TeamIDs(after))
	}
	if in.Name.IsSet() || in.Role.IsSet() || in.Attributes.IsSet() {
		tx.AuthorityChanged() // cached facts about callers include these
	}
	return after, nil
}
