package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
)

// updateOwner is the right to make owners and to take the role from them.
const updateOwner = "user.update_owner"

// ownerVerbs returns the rights that an operation needs which gives somebody the role: its own and, where the role is
// owner, the one to change owners.
func ownerVerbs(verb string, role *string) []string {
	if role != nil && user.Role(*role) == user.RoleOwner {
		return []string{verb, updateOwner}
	}
	return []string{verb}
}

// ofOwner returns the right that changing an owner's part takes, where the row is an owner's.
func ofOwner(row any) []string {
	if u, ok := row.(*ent.User); ok && u.Role == user.RoleOwner {
		return []string{updateOwner}
	}
	return nil
}

// mayLeaveOwners refuses to take an owner's part from the user when no active owner would be left. The owners' rows are
// locked.
func mayLeaveOwners(ctx context.Context, tx *op.Tx, u *ent.User) error {
	if u.Role != user.RoleOwner {
		return nil
	}
	if u.Status == user.StatusDeactivated {
		return nil // nobody who counts
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
