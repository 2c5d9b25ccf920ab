package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/apperr"
	"atrium/internal/op"
)

// The operations that end and restore a user's access. They take a person.
var (
	DeactivateUser = op.OnRow("user.deactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true, FreshVerbs: []string{updateOwner},
		Summary: "Deactivate a user, who is signed out everywhere; its API keys stay valid until they are revoked",
	}, loadUserToChange, deactivateUser).WithRowVerbs(func(row any, _ op.ByID) []string { return ofOwner(row) })

	ReactivateUser = op.OnRow("user.reactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true, FreshVerbs: []string{updateOwner},
		Summary: "Make a deactivated user active again",
	}, loadUserToChange, reactivateUser).WithRowVerbs(func(row any, _ op.ByID) []string { return ofOwner(row) })
)

// Deactivated is a user who was deactivated, and the API keys that go on working in its name.
type Deactivated struct {
	User             *ent.User
	RemainingAPIKeys []*ent.APIKey
}

// deactivateUser ends the user's sessions and grants for good, on every node within store.Propagation. Once more, it
// changes nothing. Returns conflict for the last owner.
func deactivateUser(ctx context.Context, tx *op.Tx, before *ent.User, _ op.ByID) (Deactivated, error) {
	if err := mayLeaveOwners(ctx, tx, before); err != nil {
		return Deactivated{}, err
	}
	after := before
	if before.Status != user.StatusDeactivated {
		ended, err := access.End(ctx, tx, access.User(before.ID), access.Deactivated)
		if err != nil {
			return Deactivated{}, err
		}
		if after, err = setStatus(ctx, tx, before, user.StatusDeactivated); err != nil {
			return Deactivated{}, err
		}
		tx.ChangedField("sessions", ended.Sessions, 0)
		tx.ChangedField("grants", ended.Grants, 0)
	}
	keys, err := remainingKeys(ctx, tx, after)
	if err != nil {
		return Deactivated{}, err
	}
	return Deactivated{User: after, RemainingAPIKeys: keys}, nil
}

// reactivateUser changes nothing for a user who is active. What ended with the deactivation stays ended: the person signs
// in again. Returns conflict for one who was invited and has not come.
func reactivateUser(ctx context.Context, tx *op.Tx, before *ent.User, _ op.ByID) (*ent.User, error) {
	if before.Status == user.StatusInvited {
		return nil, apperr.New(apperr.Conflict, "The user has not accepted the invitation yet.")
	}
	return setStatus(ctx, tx, before, user.StatusActive)
}

// setStatus returns the user with its new status; it writes nothing when that is the status already.
func setStatus(ctx context.Context, tx *op.Tx, before *ent.User, status user.Status) (*ent.User, error) {
	if before.Status == status {
		return before, nil
	}
	after, err := before.Update().SetStatus(status).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("set the user's status: %w", err)
	}
	after.Edges = before.Edges
	tx.Changed(before, after)
	tx.AuthorityChanged()
	return after, nil
}

// remainingKeys returns the keys, live and test ones, that are still good and act in the user's name.
func remainingKeys(ctx context.Context, tx *op.Tx, u *ent.User) ([]*ent.APIKey, error) {
	keys, err := tx.APIKey.Query().
		Where(apikey.UserID(u.ID), apikey.RevokedAtIsNil(), apikey.Or(apikey.ExpiresAtIsNil(), apikey.ExpiresAtGT(tx.Now(ctx)))).
		Order(apikey.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the user's API keys: %w", err)
	}
	return keys, nil
}
