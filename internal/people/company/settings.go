package company

import (
	"context"
	"fmt"
	"strings"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
)

// The operations on the caller's own company.
var (
	Get = op.New("company.read", op.Spec{
		Resource: "Company", Action: op.Read, Summary: "Get the company",
	}, get)

	Update = op.New("company.update", op.Spec{
		Resource: "Company", Action: op.Update, AdminLayer: true, LiveOnly: true,
		Summary: "Change the company's name and settings",
	}, update).WithVerbs(func(in UpdateInput) []string {
		verbs := []string{"company.update"}
		for verb, set := range map[string]bool{
			"company.update_mfa": in.MfaRequired.IsSet(), "company.update_session": in.SessionLifetimeMinutes.IsSet(), "company.update_jit": in.JitUsers.IsSet(),
		} {
			if set {
				verbs = append(verbs, verb)
			}
		}
		return verbs
	}).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateInput) error { return people.CheckZone(in.TimeZone) })
)

// Profile is a company as its members see it.
type Profile struct {
	ID        string
	Company   *ent.Company
	SandboxID string // empty when the company is itself a sandbox
	Limits    ratelimit.Limit
}

// GetInput is empty: a caller belongs to exactly one company.
type GetInput struct{}

func get(ctx context.Context, tx *op.Tx, _ GetInput) (*Profile, error) {
	c, err := tx.Company.Get(ctx, tx.Principal().CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	sandbox, err := sandboxOf(principal.System(ctx, "a company's sandbox is a company of its own"), tx.Client, c)
	if err != nil {
		return nil, err
	}
	return profile(c, sandbox), nil
}

func profile(c, sandbox *ent.Company) *Profile {
	out := &Profile{ID: c.ID, Company: c, Limits: ratelimit.OfCompany(c)}
	if sandbox != nil {
		out.SandboxID = sandbox.ID
	}
	return out
}

// sandboxOf returns a live company's sandbox, and nil for a sandbox. ctx must reach all companies.
func sandboxOf(ctx context.Context, db *ent.Client, c *ent.Company) (*ent.Company, error) {
	if c.SandboxOf != nil {
		return nil, nil // a sandbox has no sandbox
	}
	sandbox, err := db.Company.Query().Where(company.SandboxOf(c.ID)).Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the company's sandbox: %w", err)
	}
	return sandbox, nil
}

// UpdateInput changes the settings that are set. They also apply to the sandbox.
type UpdateInput struct {
	op.Seen
	Name                   op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	MfaRequired            op.Patch[bool]   `json:"mfaRequired,omitzero" doc:"Members without a second factor enrol one at their next sign-in."`
	SessionLifetimeMinutes op.Patch[int]    `json:"sessionLifetimeMinutes,omitzero" minimum:"5" maximum:"1440" doc:"How long a web session lasts while it is not used."`
	JitUsers               op.Patch[bool]   `json:"jitUsers,omitzero" doc:"People whom the configured issuer vouches for become members when they first come."`
	Locale                 op.Patch[string] `json:"locale,omitzero" nullable:"true" enum:"en,de" doc:"The language of its people who have chosen none, and of its invoices."`
	TimeZone               op.Patch[string] `json:"timeZone,omitzero" nullable:"true" maxLength:"64" doc:"The zone of its people who have chosen none, by its IANA name."`
	Receipts               op.Patch[string] `json:"receipts,omitzero" enum:"members,everyone,none" doc:"Who is mailed that a request of theirs has arrived, of its people who have chosen nothing."`

	AgentAgreement  op.Patch[float64] `json:"agentAgreement,omitzero" nullable:"true" minimum:"0.5" maximum:"1" doc:"How often an agent must decide as people did before it may act alone; 0.9 when null."`
	AgentRunsPerDay op.Patch[int]     `json:"agentRunsPerDay,omitzero" nullable:"true" minimum:"1" maximum:"1000000" doc:"Runs that the company's agents begin in any 24 hours, those of its sandbox apart; runs beyond them are handed over to people. 5000 when null."`
}

// update changes the caller's live company and its sandbox.
func update(ctx context.Context, tx *op.Tx, in UpdateInput) (*Profile, error) {
	if err := people.CheckZone(in.TimeZone); err != nil {
		return nil, err
	}
	before, err := load(ctx, tx, tx.Principal().CompanyID)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	if err := tx.Matches(before); err != nil {
		return nil, err
	}
	after, err := op.Save(ctx, tx, before, in.set(before.Update(), strings.TrimSpace))
	if err != nil {
		return nil, fmt.Errorf("change the company: %w", err)
	}
	var sandbox *ent.Company
	err = tx.AsSystem(ctx, "a company's sandbox is a company of its own", func(ctx context.Context) error {
		if sandbox, err = sandboxOf(ctx, tx.Client, after); err != nil {
			return err
		}
		if after == before {
			return nil // the sandbox does not change either
		}
		return in.set(sandbox.Update(), sandboxName).Exec(ctx)
	})
	if err != nil {
		return nil, fmt.Errorf("change the company's sandbox: %w", err)
	}
	tx.AuthorityChanged()
	return profile(after, sandbox), nil
}

// set applies the input to a company's row. named turns the given name into the row's.
func (in UpdateInput) set(u *ent.CompanyUpdateOne, named func(string) string) *ent.CompanyUpdateOne {
	if name, ok := op.Given(in.Name); ok {
		u.SetName(named(strings.TrimSpace(name)))
	}
	op.Set(in.MfaRequired, u.SetMfaRequired)
	op.Set(in.SessionLifetimeMinutes, u.SetSessionLifetimeMinutes)
	op.Set(in.JitUsers, u.SetJitUsers)
	op.SetOrClear(in.Locale, u.SetLocale, u.ClearLocale)
	op.SetOrClear(in.TimeZone, u.SetTimeZone, u.ClearTimeZone)
	op.Set(in.Receipts, func(r string) *ent.CompanyUpdateOne { return u.SetReceipts(company.Receipts(r)) })
	op.SetOrClear(in.AgentAgreement, u.SetAgentAgreement, u.ClearAgentAgreement)
	op.SetOrClear(in.AgentRunsPerDay, u.SetAgentRunsPerDay, u.ClearAgentRunsPerDay)
	return u
}
