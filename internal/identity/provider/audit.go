package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// origin is where a request came from, as audit entries show it.
type origin struct{ ip, userAgent, requestID string }

type originKey struct{}

// remembering keeps in a request's context where it came from.
func remembering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := origin{userAgent: cut(r.UserAgent(), 300), requestID: cut(w.Header().Get("X-Request-Id"), 64)}
		if ap, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
			from.ip = ap.Addr().Unmap().WithZone("").String()
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), originKey{}, from)))
	})
}

// cut shortens what a client sent to at most n bytes of text that both databases take.
func cut(s string, n int) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// auditGiven writes down that a person gave a client a grant. The transaction is the company's.
func auditGiven(ctx context.Context, tx *store.Tx, g *ent.Grant, u *ent.User) error {
	return audit(ctx, tx, g.ID, "grant.created", auditentry.OutcomeAllowed, map[string]op.Change{
		"clientId": {To: g.ClientID}, "scopes": {To: g.Scopes},
	}, func(c *ent.AuditEntryCreate) {
		c.SetActorType(string(principal.TypeUser)).SetActorID(u.ID).SetActorName(u.Name)
	})
}

// auditRevoked writes down that the provider revoked a grant because something that is good once came twice.
func auditRevoked(ctx context.Context, tx *store.Tx, grantID, clientID, reason string) error {
	return audit(ctx, tx, grantID, "grant.revoked", auditentry.OutcomeDenied, map[string]op.Change{
		"clientId": {To: clientID}, "reason": {To: reason},
	}, func(c *ent.AuditEntryCreate) {
		c.SetActorType(string(principal.TypeSystem)).SetActorID("provider").SetActorName("identity provider")
	})
}

func audit(ctx context.Context, tx *store.Tx, grantID, action string, outcome auditentry.Outcome, changes map[string]op.Change, by func(*ent.AuditEntryCreate)) error {
	b, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	from, _ := ctx.Value(originKey{}).(origin)
	c := tx.AuditEntry.Create().SetAction(action).SetResourceType("Grant").SetResourceID(grantID).SetOutcome(outcome).
		SetIP(from.ip).SetUserAgent(from.userAgent).SetRequestID(from.requestID).SetChanges(b)
	by(c)
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	return nil
}
