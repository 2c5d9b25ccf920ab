package auditlog

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/ent/request"
	"atrium/internal/op"
)

// RequestHistory lists what happened to a request, newest first, for everybody who works on it: who did what when, and what changed.
// It leaves out where a call came from, which only those who read the audit log see.
var RequestHistory = op.OnRow("request.history", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read",
	Summary: "List what happened to a request",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	return tx.Request.Query().Where(request.ID(id)).Only(ctx)
}, requestHistory)

// maxHistory bounds a history.
const maxHistory = 200

func requestHistory(ctx context.Context, tx *op.Tx, r *ent.Request, _ op.ByID) ([]*ent.AuditEntry, error) {
	if err := tx.May(ctx, "request.update"); err != nil { // the right of those who work on requests
		return nil, err
	}
	rows, err := tx.AuditEntry.Query().
		Where(auditentry.ResourceType("Request"), auditentry.ResourceID(r.ID), auditentry.OutcomeEQ(auditentry.OutcomeAllowed)).
		Order(ent.Desc(auditentry.FieldCreatedAt, auditentry.FieldID)).Limit(maxHistory).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the request's history: %w", err)
	}
	for _, e := range rows {
		e.IP, e.UserAgent, e.RequestID = "", "", ""
	}
	return rows, nil
}
