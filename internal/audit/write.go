package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/principal"
	"atrium/internal/text"
)

// Entry is one entry of the log. Texts that are too long for their columns are cut.
type Entry struct {
	CompanyID  string // whose log it goes into; empty for the company of the context's principal
	Actor      principal.Actor
	Action     string // "request.created"
	Resource   string // the type of the row: "Request"
	ResourceID string // empty when it is about no row
	Outcome    auditentry.Outcome
	Changes    map[string]Change
	Origin     Origin
}

// Origin is where a call came from; empty for what the product does by itself.
type Origin struct{ IP, UserAgent, RequestID string }

// By returns an entry of what a principal did, for the caller to complete.
func By(p *principal.Principal) Entry {
	e := Entry{Actor: p.Actor(), Outcome: auditentry.OutcomeAllowed, Origin: Origin{UserAgent: p.UserAgent, RequestID: p.RequestID}}
	if p.IP.IsValid() {
		e.Origin.IP = p.IP.Unmap().String()
	}
	return e
}

// Write adds the entry to the log, in the transaction of db.
func Write(ctx context.Context, db *ent.Client, e Entry) error {
	c := db.AuditEntry.Create().
		SetActorType(e.Actor.Type).SetActorID(e.Actor.ID).SetActorName(text.Cut(e.Actor.Name, 200)).
		SetAction(e.Action).SetResourceType(e.Resource).SetOutcome(e.Outcome).
		SetIP(text.Cut(e.Origin.IP, 45)).SetUserAgent(text.Cut(e.Origin.UserAgent, 300)).SetRequestID(text.Cut(e.Origin.RequestID, 64))
	if e.CompanyID != "" {
		c.SetCompanyID(e.CompanyID)
	}
	if e.ResourceID != "" {
		c.SetResourceID(text.Cut(e.ResourceID, 64))
	}
	if len(e.Changes) > 0 {
		b, err := json.Marshal(e.Changes)
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
