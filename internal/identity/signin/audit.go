package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/throttle"
	"atrium/ent/user"
	"atrium/internal/op"
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
	changes  map[string]op.Change
}

// origin is where a request came from, as audit entries show it.
type origin struct{ ip, userAgent, requestID string }

// originOf reads a request and the id that the gate gave it.
func originOf(w http.ResponseWriter, r *http.Request) origin {
	return origin{ip: cut(remoteIP(r), 45), userAgent: userAgent(r), requestID: cut(requestID(w), 64)}
}

// audit writes an entry in the user's company. The transaction's context reaches all companies.
func audit(ctx context.Context, tx *store.Tx, from origin, u *ent.User, e event) error {
	c := tx.AuditEntry.Create().SetCompanyID(u.CompanyID).
		SetActorType(string(principal.TypeUser)).SetActorID(u.ID).SetActorName(u.Name).
		SetAction(e.action).SetResourceType(e.resource).SetOutcome(e.outcome).
		SetIP(from.ip).SetUserAgent(from.userAgent).SetRequestID(from.requestID)
	if e.resource == "User" {
		c.SetResourceID(u.ID)
	}
	if len(e.changes) > 0 {
		b, err := json.Marshal(e.changes)
		if err != nil {
			return fmt.Errorf("write the audit entry: %w", err)
		}
		c.SetChanges(b)
	}
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	return nil
}

// auditAll writes an entry in the account's companies.
func auditAll(ctx context.Context, tx *store.Tx, from origin, accountID string, e event) error {
	users, err := tx.User.Query().Where(user.AccountID(accountID), user.LiveUserIDIsNil()).
		Order(user.ByCreatedAt(), user.ByID()).Limit(maxAudited).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the account's companies: %w", err)
	}
	for _, u := range users {
		if err := audit(ctx, tx, from, u, e); err != nil {
			return err
		}
	}
	return nil
}

// failed writes down that a proof was wrong. For an address without an account there is no company to tell; it takes a
// transaction all the same, so that the time says nothing.
func (s *Server) failed(ctx context.Context, from origin, acc *ent.Account, proof string) error {
	err := s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if acc.ID == "" {
			_, err := tx.Throttle.Update().Where(throttle.ID(accountKey(acc.Email))).AddFailures(0).Save(ctx)
			return err //nolint:wrapcheck // wrapped below
		}
		return auditAll(ctx, tx, from, acc.ID, event{
			action: "session.created", resource: "Session", outcome: auditentry.OutcomeDenied,
			changes: map[string]op.Change{"proof": {To: proof}},
		})
	})
	if err != nil {
		return fmt.Errorf("write the failed sign-in down: %w", err)
	}
	return nil
}
