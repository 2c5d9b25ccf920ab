package signin

import (
	"context"
	"fmt"
	"net/http"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/user"
	"atrium/internal/gate"
	"atrium/internal/identity/throttle"
	"atrium/internal/op/audit"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// maxAudited limits the companies that get an audit entry for one event of an account.
const maxAudited = 20

// event is an entry of the audit log about one person.
type event struct {
	action   string
	resource string // its type
	outcome  auditentry.Outcome
	changes  map[string]audit.Change
}

// record writes an entry in the user's company. The transaction's context must access all companies.
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

// auditAll writes an entry in the companies in which the account is active. A company that has only invited the person,
// or has deactivated them, gets none.
func auditAll(ctx context.Context, tx *store.Tx, from audit.Origin, accountID string, e event) error {
	users, err := tx.User.Query().Where(user.AccountID(accountID), user.LiveUserIDIsNil(), user.StatusEQ(user.StatusActive)).
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

// failed records a wrong proof, in the company that the sign-in is for or, if it is for none, in the person's only
// company. If there is no such company, failed runs a transaction nevertheless, so that the time reveals nothing.
func (s *Server) failed(ctx context.Context, from audit.Origin, g *goal, acc *ent.Account, proof string) error {
	err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		u, err := concerned(ctx, tx, g, acc.ID)
		if err != nil {
			return err
		}
		if u == nil {
			return throttle.Touch(ctx, tx, acc.Email)
		}
		return record(ctx, tx, from, u, event{
			action: "session.created", resource: "Session", outcome: auditentry.OutcomeDenied,
			changes: map[string]audit.Change{"proof": {To: proof}},
		})
	})
	if err != nil {
		return fmt.Errorf("write the failed sign-in down: %w", err)
	}
	return nil
}

// concerned returns the account's user in the company that gets the entry about a failed sign-in; nil for none.
func concerned(ctx context.Context, tx *store.Tx, g *goal, accountID string) (*ent.User, error) {
	q := tx.User.Query().Where(user.AccountID(accountID), user.LiveUserIDIsNil(), user.StatusEQ(user.StatusActive)).Limit(2)
	if g.req != nil && g.req.CompanyID != "" {
		q.Where(user.CompanyID(g.req.CompanyID))
	}
	users, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for the company to tell: %w", err)
	}
	if len(users) != 1 {
		return nil, nil
	}
	return users[0], nil
}

// AuditUser writes an audit entry about a change of a user in the user's company. The transaction's context must access
// all companies.
func AuditUser(ctx context.Context, tx *store.Tx, w http.ResponseWriter, r *http.Request, u *ent.User, action string, changes map[string]audit.Change) error {
	return record(ctx, tx, gate.Origin(w, r), u, event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: changes})
}

// AuditAccount is AuditUser for each of the account's active users.
func AuditAccount(ctx context.Context, tx *store.Tx, w http.ResponseWriter, r *http.Request, accountID, action string, changes map[string]audit.Change) error {
	return auditAll(ctx, tx, gate.Origin(w, r), accountID, event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: changes})
}
