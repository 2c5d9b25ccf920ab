package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/user"
	"atrium/internal/access"
	"atrium/internal/apperr"
	"atrium/internal/execution"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
)

// The operations that end and restore a user's access. They take a person.
var (
	DeactivateUser = op.OnRow("user.deactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true,
		Summary: "Deactivate a user, who is signed out everywhere; its API keys stay valid until they are revoked",
	}, loadUserToChange, deactivateUser).WithRowVerbs(func(row any, _ DeactivateUserInput) []string { return ofOwner(row) })

	ReactivateUser = op.OnRow("user.reactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true,
		Summary: "Make a deactivated user active again",
	}, loadUserToChange, reactivateUser).WithRowVerbs(func(row any, _ op.ByID) []string { return ofRow(row) })
)

// DeactivateUserInput says who goes, and who takes over.
type DeactivateUserInput struct {
	op.ByID
	ReassignTo *string `json:"reassignTo,omitempty" nullable:"true" maxLength:"64" doc:"The team that gets the open work which they hold; without one it stays with them."`
}

// Deactivated is a user who was deactivated, and what goes on in its name.
type Deactivated struct {
	User             *ent.User
	RemainingAPIKeys []*ent.APIKey
	OpenRequests     int // that were assigned to the user
	OpenTasks        int // alike
}

// deactivateUser ends the user's sessions and grants for good, on every node within store.Propagation, and hands its open
// work over where the input names a team. An approval that cannot be given without the user becomes an incident. Once more, it
// only hands over. Returns conflict for the last owner.
func deactivateUser(ctx context.Context, tx *op.Tx, before *ent.User, in DeactivateUserInput) (Deactivated, error) {
	if before.Status == user.StatusErased {
		return Deactivated{}, errErased()
	}
	if err := mayLeaveOwners(ctx, tx, before); err != nil {
		return Deactivated{}, err
	}
	held, err := handOver(ctx, tx, before.ID, in.ReassignTo)
	if err != nil {
		return Deactivated{}, err
	}
	after := before
	if before.Status != user.StatusDeactivated {
		if err := execution.ApproversLeft(ctx, tx, before.ID); err != nil {
			return Deactivated{}, err
		}
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
	return Deactivated{User: after, RemainingAPIKeys: keys, OpenRequests: held.requests, OpenTasks: held.tasks}, nil
}

// reactivateUser changes nothing for a user who is active. What ended with the deactivation stays ended: the person signs
// in again. Somebody who never came waits for its invitation again. Returns conflict for one who was invited and has not
// come, and for one who was erased.
func reactivateUser(ctx context.Context, tx *op.Tx, before *ent.User, _ op.ByID) (*ent.User, error) {
	switch before.Status {
	case user.StatusErased:
		return nil, errErased()
	case user.StatusInvited:
		return nil, apperr.New(apperr.Conflict, "The user has not accepted the invitation yet.")
	}
	if before.AcceptedAt == nil {
		return setStatus(ctx, tx, before, user.StatusInvited)
	}
	return setStatus(ctx, tx, before, user.StatusActive)
}

// errErased refuses to change somebody who is nobody any more.
func errErased() error { return apperr.New(apperr.Conflict, "The user was erased.") }

// setStatus returns the user with its new status; it writes nothing when that is the status already. Only somebody active
// shows the address and the factors of the account as they are.
func setStatus(ctx context.Context, tx *op.Tx, before *ent.User, status user.Status) (*ent.User, error) {
	if before.Status == status {
		return before, nil
	}
	u := before.Update().SetStatus(status).SetMfaEnabled(false)
	if status == user.StatusActive {
		if err := showAccount(ctx, tx, before, u); err != nil {
			return nil, err
		}
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("set the user's status: %w", err)
	}
	after.Edges = before.Edges
	tx.AuthorityChanged()
	return after, nil
}

// showAccount brings what a user who becomes active shows of its account up to date, and its mirror in the sandbox.
func showAccount(ctx context.Context, tx *op.Tx, before *ent.User, u *ent.UserUpdateOne) error {
	if before.AcceptedAt == nil {
		u.SetAcceptedAt(tx.Now(ctx))
	}
	return tx.AsSystem(ctx, "a user shows its account, which belongs to no company", func(ctx context.Context) error {
		acc, err := tx.Account.Get(ctx, before.AccountID)
		if err != nil {
			return fmt.Errorf("read the account: %w", err)
		}
		mfa, err := mfa.Enrolled(ctx, tx.Client, acc.ID)
		if err != nil {
			return err
		}
		u.SetMfaEnabled(mfa)
		if acc.Email == "" || acc.Email == before.Email {
			return nil
		}
		u.SetEmail(acc.Email)
		if err := tx.User.Update().Where(user.LiveUserID(before.ID)).SetEmail(acc.Email).Exec(ctx); err != nil {
			return fmt.Errorf("change the address in the sandbox: %w", err)
		}
		return nil
	})
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
