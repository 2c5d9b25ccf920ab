package people

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/identity/mfa"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/execution"
)

// The operations that end and restore a user's access. They require a signed-in person.
var (
	DeactivateUser = op.OnRow("user.deactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true,
		Summary: "Deactivate a user, who is signed out everywhere; its API keys stay valid until they are revoked",
	}, loadUserToChange, deactivateUser).WithRowVerbs(func(row any, _ DeactivateUserInput) []string { return ofOwner(row) }).Prepared(prepareHandOver)

	ReactivateUser = op.OnRow("user.reactivate", op.Spec{
		Resource: "User", Action: op.Update, AdminLayer: true,
		Summary: "Make a deactivated user active again",
	}, loadUserToChange, reactivateUser).WithRowVerbs(func(row any, _ op.ByID) []string { return ofRow(row) })
)

// DeactivateUserInput names the user, and the team that takes over.
type DeactivateUserInput struct {
	op.ByID
	ReassignTo *string `json:"reassignTo,omitempty" nullable:"true" maxLength:"64" doc:"The team that gets the open work which they hold; without one it stays with them."`
}

// Deactivated is a user who was deactivated, with what remains in the user's name.
type Deactivated struct {
	User             *ent.User
	RemainingAPIKeys []*ent.APIKey
	OpenRequests     int // assigned to the user
	OpenTasks        int // likewise
}

// deactivateUser ends the user's sessions and grants for good, on every node within store.Propagation, and hands the user's
// open work to the team if the input names one. An approval that cannot be given without the user becomes an incident.
// Much work is handed over by a job that the commit begins. Repeating it only hands over work. Returns conflict for the last owner.
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
		if err := tx.Agents().OwnerLeft(ctx, tx, before.ID); err != nil {
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
	return Deactivated{User: after, RemainingAPIKeys: keys, OpenRequests: len(held.requests), OpenTasks: len(held.tasks)}, nil
}

// reactivateUser changes nothing for an active user. Sessions and grants that the deactivation ended stay ended: the person
// signs in again. A user who never accepted becomes invited again. Returns conflict for an invited user, and for an erased
// one.
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

// errErased refuses to change an erased user.
func errErased() error { return apperr.New(apperr.Conflict, "The user was erased.") }

// setStatus returns the user with its new status, and writes nothing if the user has it already. Only an active user shows the
// account's current address and factors.
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

// showAccount copies the account's current data to a user who becomes active, and to its mirror in the sandbox.
func showAccount(ctx context.Context, tx *op.Tx, before *ent.User, u *ent.UserUpdateOne) error {
	if before.AcceptedAt == nil {
		u.SetAcceptedAt(tx.Now(ctx))
	}
	return tx.AsSystem(ctx, "a user shows its account, which belongs to no company", func(ctx context.Context) error {
		acc, err := tx.Account.Get(ctx, before.AccountID)
		if err != nil {
			return fmt.Errorf("read the account: %w", err)
		}
		if before.AcceptedAt == nil && acc.UnprovenSince != nil {
			return Unproven()
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

// remainingKeys returns the valid keys, live and test, that act in the user's name.
func remainingKeys(ctx context.Context, tx *op.Tx, u *ent.User) ([]*ent.APIKey, error) {
	keys, err := tx.APIKey.Query().
		Where(apikey.UserID(u.ID), apikey.RevokedAtIsNil(), apikey.Or(apikey.ExpiresAtIsNil(), apikey.ExpiresAtGT(tx.Now(ctx)))).
		Order(apikey.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the user's API keys: %w", err)
	}
	return keys, nil
}
