package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/text"
)

// Entry is one entry of the log. Write cuts texts that are too long for their columns.
type Entry struct {
	ID         string // empty for a new one
	CompanyID  string // whose log it belongs to; empty for the company of the context's principal
	Actor      principal.Actor
	Action     string // "request.created"
	Resource   string // the type of the row: "Request"
	ResourceID string // empty when there is no row
	Outcome    auditentry.Outcome
	Changes    map[string]Change
	Origin     Origin
}

// Origin is the origin of a call; empty for actions of the product itself.
type Origin struct{ IP, UserAgent, RequestID string }

// By returns an entry about a principal's action, for the caller to complete.
func By(p *principal.Principal) Entry {
	e := Entry{Actor: p.Actor(), Outcome: auditentry.OutcomeAllowed, Origin: Origin{UserAgent: p.UserAgent, RequestID: p.RequestID}}
	if p.IP.IsValid() {
		e.Origin.IP = p.IP.Unmap().String()
	}
	return e
}

// Write adds the entry to the log, in the transaction of db, with the hash of its leaf. Package merkle later assigns its
// position in the Merkle log.
func Write(ctx context.Context, db *ent.Client, e Entry) error {
	row, err := rowOf(ctx, e)
	if err != nil {
		return err
	}
	hash, err := Hash(row)
	if err != nil {
		return err
	}
	c := db.AuditEntry.Create().SetID(row.ID).SetCompanyID(row.CompanyID).SetCreatedAt(row.CreatedAt).
		SetActorType(row.ActorType).SetActorID(row.ActorID).SetActorName(row.ActorName).
		SetAction(row.Action).SetResourceType(row.ResourceType).SetNillableResourceID(row.ResourceID).SetOutcome(row.Outcome).
		SetIP(row.IP).SetUserAgent(row.UserAgent).SetRequestID(row.RequestID).
		SetActorSeal(row.ActorSeal).SetChangesSeal(row.ChangesSeal).SetLeafHash(hash[:])
	if len(row.Changes) > 0 {
		c.SetChanges(row.Changes)
	}
	if err := c.Exec(ctx); err != nil {
		return fmt.Errorf("write the audit entry: %w", err)
	}
	return nil
}

// rowOf returns the row of an entry, as the database will store it.
func rowOf(ctx context.Context, e Entry) (*ent.AuditEntry, error) {
	row := &ent.AuditEntry{
		ID: cmp.Or(e.ID, id.New("aud")), CompanyID: e.CompanyID, CreatedAt: stamp(clock.From(ctx).Now()),
		ActorType: e.Actor.Type, ActorID: e.Actor.ID, ActorName: text.Cut(e.Actor.Name, 200), Action: e.Action, ResourceType: e.Resource, Outcome: e.Outcome,
		IP: text.Cut(e.Origin.IP, 45), UserAgent: text.Cut(e.Origin.UserAgent, text.MaxUserAgent), RequestID: text.Cut(e.Origin.RequestID, text.MaxID),
		ActorSeal: NewSalt(), ChangesSeal: NewSalt(),
	}
	if p, ok := principal.From(ctx); ok && row.CompanyID == "" {
		row.CompanyID = p.CompanyID
	}
	if e.ResourceID != "" {
		row.ResourceID = new(text.Cut(e.ResourceID, text.MaxID))
	}
	if len(e.Changes) > 0 {
		b, err := json.Marshal(e.Changes)
		if err != nil {
			return nil, fmt.Errorf("write the audit entry: %w", err)
		}
		row.Changes = b
	}
	return row, nil
}
