package company

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
)

// SetRetention sets how long a company and its sandbox keep the values of audit entries. Only the operator may do so.
var SetRetention = op.OnRow("company.retention", op.Spec{
	Resource: "Company", Action: op.Update, Past: map[string]string{"company.retention": "company.updated"}, Summary: "Say how long a company keeps what its audit entries tell",
}, load, setRetention)

// RetentionInput holds the retention in days; null keeps all values for ever.
type RetentionInput struct {
	op.ByID
	AuditDays op.Patch[int] `json:"auditDays,omitzero" nullable:"true" minimum:"1" maximum:"36500" doc:"After so many days entries lose their values; their places in the log and its proofs stay."`
}

func setRetention(ctx context.Context, tx *op.Tx, before *ent.Company, in RetentionInput) (*ent.Company, error) {
	u := before.Update()
	op.SetOrClear(in.AuditDays, u.SetAuditDays, u.ClearAuditDays)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("set the retention: %w", err)
	}
	return after, tx.AsSystem(ctx, "the sandbox keeps what its live company keeps", func(ctx context.Context) error {
		u := tx.Company.Update().Where(company.SandboxOf(after.ID))
		op.SetOrClear(in.AuditDays, u.SetAuditDays, u.ClearAuditDays)
		return u.Exec(ctx)
	})
}
