package company

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/platform/ratelimit"
)

// SetLimits gives a company its own limits in place of its plan's. Only the operator may do so.
var SetLimits = op.OnRow("company.limits", op.Spec{
	Resource: "Company", Action: op.Update, Past: map[string]string{"company.limits": "company.updated"}, Summary: "Set a company's own limits",
}, load, setLimits)

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Company, error) {
	return op.Lock(tx, tx.Company.Query().Where(company.ID(id))).Only(ctx)
}

// LimitsInput holds the limits to set; null restores the plan's.
type LimitsInput struct {
	op.ByID
	PerMinute op.Patch[int] `json:"perMinute,omitzero" nullable:"true" minimum:"1" maximum:"1000000" doc:"Calls a minute and key."`
	PerDay    op.Patch[int] `json:"perDay,omitzero" nullable:"true" minimum:"1" maximum:"1000000000" doc:"Calls a day and key."`

	// At least one body. The maxima are far above what a server takes.
	MegabytesPerMinute op.Patch[int] `json:"megabytesPerMinute,omitzero" nullable:"true" minimum:"1" maximum:"1000000" doc:"Megabytes (1,048,576 bytes) of bodies a minute."`
	MegabytesPerDay    op.Patch[int] `json:"megabytesPerDay,omitzero" nullable:"true" minimum:"1" maximum:"1000000000" doc:"Megabytes of bodies a day."`

	// At least the value of every plan, because clients may rely on it. The maximum limits the memory for one response.
	QueryCost op.Patch[int] `json:"queryCost,omitzero" nullable:"true" minimum:"20000" maximum:"200000" doc:"What one GraphQL operation may cost."`

	Invitations op.Patch[int] `json:"invitations,omitzero" nullable:"true" minimum:"1" maximum:"1000000" doc:"Invitations that are mailed in any 24 hours."`
}

func setLimits(ctx context.Context, tx *op.Tx, before *ent.Company, in LimitsInput) (*ent.Company, error) {
	u := before.Update()
	op.SetOrClear(in.PerMinute, u.SetRatePerMinute, u.ClearRatePerMinute)
	op.SetOrClear(in.PerDay, u.SetRatePerDay, u.ClearRatePerDay)
	op.SetOrClear(in.MegabytesPerMinute, func(n int) *ent.CompanyUpdateOne { return u.SetBytesPerMinute(n * ratelimit.MB) }, u.ClearBytesPerMinute)
	op.SetOrClear(in.MegabytesPerDay, func(n int) *ent.CompanyUpdateOne { return u.SetBytesPerDay(n * ratelimit.MB) }, u.ClearBytesPerDay)
	op.SetOrClear(in.QueryCost, u.SetQueryCost, u.ClearQueryCost)
	op.SetOrClear(in.Invitations, u.SetInvitationsPerDay, u.ClearInvitationsPerDay)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("set the limits: %w", err)
	}
	tx.AuthorityChanged()
	return after, nil
}
