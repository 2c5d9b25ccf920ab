package signin

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/audit"
	"atrium/internal/identity/throttle"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// maxAudited bounds in how many companies one event of an account is written down.
const maxAudited = 20

// event is an entry of the audit log about one person.
type event struct {
	action   string
	resource string // its type
	outcome  auditentry.Outcome
	changes  map[string]audit.Change
}

// record writes an entry in the user's company. The transaction's context reaches all companies.
func record(ctx context.Context, tx *store.Tx, from audit.Origin, u *ent.User, e event) error {
	entry := audit.Entry{
		CompanyID: u.CompanyID, Actor: principal.Actor{Type: string(principal.TypeUser), ID: u.ID, Name: u.Name},
		Action: e.action, Resource: e.resource, Outcome: e.outcome, Changes: e.changes, Origin: from,
	}
	if e.resource == "User" {
		entry.ResourceID = u.ID
	}
	return audit.Write(ctx, tx.Client, entry)
}

// auditAll writes an entry in the account's companies.
func auditAll(ctx context.Context, tx *store.Tx, from audit.Origin, accountID string, e event) error {
	users, err := tx.User.Query().Where(user.AccountID(accountID), user.LiveUserIDIsNil()).
		Order(user.ByCreatedAt(), user.ByID()).Limit(maxAudited).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the account's companies: %w", err)
	}
	for _, u := range users {
		if err := record(ctx, tx, from, u, e); err != nil {
			return err
		}
	}
	return nil
}

// failed writes down that a proof was wrong. For an address without an account there is no company to tell; it takes a
// transaction all the same, so that the time says nothing.
func (s *Server) failed(ctx context.Context, from audit.Origin, acc *ent.Account, proof string) error {
	err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if acc.ID == "" {
			return throttle.Touch(ctx, tx, acc.Email)
		}
		return auditAll(ctx, tx, from, acc.ID, event{
			action: "session.created", resource: "Session", outcome: auditentry.OutcomeDenied,
			changes: map[string]audit.Change{"proof": {To: proof}},
		})
	})
	if err != nil {
		return fmt.Errorf("write the failed sign-in down: %w", err)
	}
	return nil
}
