package company

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
)

// SetLimits gives a company rate limits of its own in place of its plan's. Only the operator may.
var SetLimits = op.OnRow("company.limits", op.Spec{
	Resource: "Company", Action: op.Update, Summary: "Set a company's own rate limits",
}, load, setLimits)

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Company, error) {
	return op.Lock(tx, tx.Company.Query().Where(company.ID(id))).Only(ctx)
}

// LimitsInput holds the numbers; null goes back to the plan's.
type LimitsInput struct {
	op.ByID
	PerMinute op.Patch[int] `json:"perMinute,omitzero" nullable:"true" minimum:"1" maximum:"1000000" doc:"Calls a minute and key."`
	PerDay    op.Patch[int] `json:"perDay,omitzero" nullable:"true" minimum:"1" maximum:"1000000000" doc:"Calls a day and key."`
}

func setLimits(ctx context.Context, tx *op.Tx, before *ent.Company, in LimitsInput) (*ent.Company, error) {
	u := before.Update()
	op.SetOrClear(in.PerMinute, u.SetRatePerMinute, u.ClearRatePerMinute)
	op.SetOrClear(in.PerDay, u.SetRatePerDay, u.ClearRatePerDay)
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("set the limits: %w", err)
	}
	tx.AuthorityChanged()
	tx.As("company.updated")
	tx.Changed(before, after)
	return after, nil
}
