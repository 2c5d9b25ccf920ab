package provider

import (
	"context"
	"net/http"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/gate"
	"atrium/internal/op/audit"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

type originKey struct{}

// withOrigin stores the origin of a request (address, user agent) in its context, for audit entries.
func withOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), originKey{}, gate.Origin(w, r))))
	})
}

// auditGiven writes the audit entry of a grant that a person gave to a client. The transaction is the company's.
func auditGiven(ctx context.Context, tx *store.Tx, g *ent.Grant, u *ent.User) error {
	return write(ctx, tx, audit.Entry{
		Actor: principal.Actor{Type: string(principal.TypeUser), ID: u.ID, Name: u.Name}, Action: "grant.created", ResourceID: g.ID,
		Outcome: auditentry.OutcomeAllowed, Changes: map[string]audit.Change{"clientId": {To: g.ClientID}, "scopes": {To: g.Scopes}},
	})
}

// auditRevoked writes the audit entry of a grant that the provider revoked because a code or a refresh token was used twice.
func auditRevoked(ctx context.Context, tx *store.Tx, grantID, clientID, reason string) error {
	return write(ctx, tx, audit.Entry{
		Actor: principal.Worker("", workerName).Actor(), Action: "grant.revoked", ResourceID: grantID,
		Outcome: auditentry.OutcomeDenied, Changes: map[string]audit.Change{"clientId": {To: clientID}, "reason": {To: reason}},
	})
}

// write writes an audit entry about a grant, with the origin of the request.
func write(ctx context.Context, tx *store.Tx, e audit.Entry) error {
	e.Resource = "Grant"
	e.Origin, _ = ctx.Value(originKey{}).(audit.Origin)
	return audit.Write(ctx, tx.Client, e)
}
