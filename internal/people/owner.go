package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// The rights to give and take the most powerful roles, and to rename an owner.
const (
	updateOwner = "user.update_owner"
	updateAdmin = "user.update_admin"
	renameOwner = "user.rename_owner"
)

// ofRole returns the right required for giving or taking the role.
func ofRole(role user.Role) []string {
	switch role {
	case user.RoleOwner:
		return []string{updateOwner}
	case user.RoleAdmin:
		return []string{updateAdmin}
	}
	return nil
}

// roleVerbs returns the rights required for an operation that gives somebody the role.
func roleVerbs(verb string, role *string) []string {
	return append([]string{verb}, ofRole(user.Role(op.Or(role, "")))...)
}

// ofRow returns the right required for giving or taking the row's role.
func ofRow(row any) []string {
	switch row := row.(type) {
	case *ent.User:
		return ofRole(row.Role)
	case *ent.ServiceAccount:
		return ofRole(user.Role(row.Role))
	}
	return nil
}

// ofOwner returns the right required for changing the row if it belongs to an owner.
func ofOwner(row any) []string {
	if u, ok := row.(*ent.User); ok && u.Role == user.RoleOwner {
		return []string{updateOwner}
	}
	return nil
}

// mayLeaveOwners returns conflict if the user is the last active owner, because the change would leave none. The
// owners' rows are locked.
func mayLeaveOwners(ctx context.Context, tx *op.Tx, u *ent.User) error {
	if u.Role != user.RoleOwner {
		return nil
	}
	if access.Gone(u.Status) {
		return nil // no owner in effect
	}
	others, err := tx.User.Query().
		Where(user.RoleEQ(user.RoleOwner), user.StatusEQ(user.StatusActive), user.IDNEQ(u.ID)).
		Exist(tx.Unfiltered(ctx, "an owner whom the caller does not see is an owner, too"))
	if err != nil {
		return fmt.Errorf("look for other owners: %w", err)
	}
	if !others {
		return apperr.New(apperr.Conflict, "The company would have no active owner left. Make somebody else an owner first.")
	}
	return nil
}
