package signin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/audit"
	"atrium/internal/gate"
	"atrium/internal/store"
)

// What package account borrows besides Layout and SignIns.

// Confirm holds a password against the account of whoever is signed in. It counts as an attempt to sign in does: wait is
// how long none is taken, when it is not 0. Returns password.ErrBusy, wrapped, like the Hasher.
func (s *Server) Confirm(w http.ResponseWriter, r *http.Request, acc *ent.Account, plain string) (right bool, wait time.Duration, err error) {
	ctx := r.Context()
	if len(plain) > maxPassword {
		return false, 0, nil
	}
	try, wait, err := s.throttle.Take(r, acc.Email, s.browser(r, acc.ID))
	if err != nil || wait > 0 {
		return false, wait, err
	}
	if right, err = s.verify(ctx, acc, plain, try); err != nil {
		return false, 0, err
	}
	if !right {
		return false, 0, s.failed(ctx, gate.Origin(w, r), &goal{}, acc, "password")
	}
	err = s.signIns.write(ctx, func(ctx context.Context, tx *store.Tx) error { return s.throttle.Proved(ctx, tx, try) })
	if err != nil {
		return false, 0, fmt.Errorf("note the proof: %w", err)
	}
	return true, 0, nil
}

// AuditUser writes into the log of the user's company what became of the user. The transaction's context reaches all
// companies.
func AuditUser(ctx context.Context, tx *store.Tx, w http.ResponseWriter, r *http.Request, u *ent.User, action string, changes map[string]audit.Change) error {
	return record(ctx, tx, gate.Origin(w, r), u, event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: changes})
}

// AuditAccount is AuditUser for each of the account's active users.
func AuditAccount(ctx context.Context, tx *store.Tx, w http.ResponseWriter, r *http.Request, accountID, action string, changes map[string]audit.Change) error {
	return auditAll(ctx, tx, gate.Origin(w, r), accountID, event{action: action, resource: "User", outcome: auditentry.OutcomeAllowed, changes: changes})
}
