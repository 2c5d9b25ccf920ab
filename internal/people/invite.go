package people

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/store"
)

// InviteUser makes an account a member of the company. It takes a person.
var InviteUser = op.New("user.invite", op.Spec{
	Resource: "User", Action: op.Create, AdminLayer: true,
	Summary: "Invite somebody into the company",
}, inviteUser).WithVerbs(func(in InviteUserInput) []string { return ownerVerbs("user.invite", in.Role) })

// InviteUserInput says who is invited.
type InviteUserInput struct {
	Email string  `json:"email" maxLength:"254" pattern:"^[^\\s@<>(),;:\"]+@[^\\s@<>(),;:\"]+$" patternDescription:"an e-mail address" doc:"Kept in lower case."`
	Name  *string `json:"name,omitempty" nullable:"true" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" doc:"What stands before the @ of the address when not given."`
	Role  *string `json:"role,omitempty" nullable:"true" enum:"owner,admin,agent,member" doc:"Starts as member; only owners invite owners."`
}

// inviteUser makes the person's account where there is none. Returns conflict for somebody who is a member already,
// whatever the status.
func inviteUser(ctx context.Context, tx *op.Tx, in InviteUserInput) (*ent.User, error) {
	if tx.Principal().Sandbox {
		return nil, apperr.New(apperr.Conflict, "People are invited into the live company.")
	}
	email := strings.ToLower(in.Email)
	member, err := tx.User.Query().Where(user.Email(email)).
		Exist(tx.Unfiltered(ctx, "an address is one member's, whoever sees that member"))
	if err != nil {
		return nil, fmt.Errorf("look for the member: %w", err)
	}
	if member {
		return nil, apperr.New(apperr.Conflict, "Somebody with this e-mail address is a member already.")
	}
	accountID, err := accountOf(ctx, tx, email)
	if err != nil {
		return nil, err
	}
	local, _, _ := strings.Cut(email, "@")
	u, err := tx.User.Create().
		SetAccountID(accountID).
		SetEmail(email).
		SetName(op.Or(in.Name, local)).
		SetRole(user.Role(op.Or(in.Role, string(user.RoleMember)))).
		SetStatus(user.StatusInvited).
		Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("create the user: %w", err)
	}
	// Field by field: which account stands behind a user is nothing for the company's log.
	tx.ChangedField("email", nil, u.Email)
	tx.ChangedField("name", nil, u.Name)
	tx.ChangedField("role", nil, u.Role)
	tx.ChangedField("status", nil, u.Status)
	tx.AuthorityChanged()
	return u, nil
}

// accountOf returns the account of an e-mail address, and makes it where there is none. Accounts belong to no company.
func accountOf(ctx context.Context, tx *op.Tx, email string) (id string, err error) {
	err = tx.AsSystem(ctx, "invite: find or make the person's account", func(ctx context.Context) error {
		if err := lockAddress(ctx, tx, email); err != nil {
			return err
		}
		id, err = tx.Account.Query().Where(account.Email(email)).OnlyID(ctx)
		if !ent.IsNotFound(err) {
			return err
		}
		made, err := tx.Account.Create().SetEmail(email).Save(ctx)
		if err != nil {
			return err
		}
		id = made.ID
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("find or make the account: %w", err)
	}
	return id, nil
}

// lockAddress makes two companies that invite the same person at once do so one after the other, so that the second
// finds the account which the first made.
func lockAddress(ctx context.Context, tx *op.Tx, email string) error {
	return tx.Enqueue(func(db *store.Tx) error {
		if db.PGX() == nil {
			return nil // SQLite has one writer
		}
		if _, err := db.PGX().Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "account/"+email); err != nil {
			return fmt.Errorf("lock the address: %w", err)
		}
		return nil
	})
}
