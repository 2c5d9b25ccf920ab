package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"atrium/internal/op"
	"atrium/internal/people/company"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

type companyCreateCmd struct {
	dataFlags
	jsonFlag
	Name       string `required:"" help:"The company's name."`
	Plan       string `required:"" enum:"free,pro,starter,growth,business,enterprise" help:"free, pro, starter, growth, business or enterprise."`
	OwnerEmail string `required:"" help:"E-mail address of the first owner."`
}

// Run makes a company.
func (m *companyCreateCmd) Run(ctx context.Context) (err error) {
	c, err := m.open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	made, err := company.Create(ctx, c.store, company.CreateInput{Name: m.Name, Plan: m.Plan, OwnerEmail: m.OwnerEmail, RedirectURI: demoRedirect})
	if err != nil {
		return err
	}
	first, err := c.firstRun(ctx, made)
	if err != nil {
		return err
	}
	return m.print(first,
		"company   "+first.Company.ID, "sandbox   "+first.Company.SandboxID, "owner     "+first.Owner.Email, "password  "+first.Owner.Password,
		"live key  "+first.LiveKey, "test key  "+first.TestKey, "client    "+first.OAuthClient.ClientID,
		"The password and the keys are shown this once.")
}

type companyLimitsCmd struct {
	dataFlags
	jsonFlag
	Company            string `required:"" help:"The live company's id (co_…)."`
	PerMinute          *int   `help:"Calls a minute and key; 0 goes back to the plan's. Stays as it is when not given."`
	PerDay             *int   `help:"Calls a day and key; 0 goes back to the plan's. Stays as it is when not given."`
	Invitations        *int   `help:"Invitations that are mailed in any 24 hours; 0 goes back to the plan's. Stays as it is when not given."`
	MegabytesPerMinute *int   `help:"Megabytes of bodies a minute, of all callers and inbound webhooks; 0 goes back to the plan's. Stays as it is when not given."`
	MegabytesPerDay    *int   `help:"Megabytes of bodies a day; 0 goes back to the plan's. Stays as it is when not given."`
	QueryCost          *int   `help:"What one GraphQL operation may cost, 20000 to 200000; 0 goes back to the plan's. Stays as it is when not given."`
}

// Run sets a company's own limits.
func (m *companyLimitsCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "company limits", func(ctx context.Context, c *core) error {
		in := company.LimitsInput{
			ByID: op.ByID{ID: m.Company}, PerMinute: orNull(m.PerMinute), PerDay: orNull(m.PerDay),
			MegabytesPerMinute: orNull(m.MegabytesPerMinute), MegabytesPerDay: orNull(m.MegabytesPerDay), QueryCost: orNull(m.QueryCost), Invitations: orNull(m.Invitations),
		}
		co, _, err := op.Run(ctx, c.engine, company.SetLimits, in, nil)
		if err != nil {
			return err
		}
		time.Sleep(store.Propagation) // after that every node knows the limits
		perMinute, perDay := megabytes(co.BytesPerMinute), megabytes(co.BytesPerDay)
		return m.print(map[string]any{"company": map[string]any{
			"id": co.ID, "perMinute": co.RatePerMinute, "perDay": co.RatePerDay, "megabytesPerMinute": perMinute, "megabytesPerDay": perDay,
			"queryCost": co.QueryCost, "invitations": co.InvitationsPerDay,
		}}, "calls a minute  "+ownOr(co.RatePerMinute), "calls a day     "+ownOr(co.RatePerDay), "MB a minute     "+ownOr(perMinute), "MB a day        "+ownOr(perDay),
			"query cost      "+ownOr(co.QueryCost), "invitations     "+ownOr(co.InvitationsPerDay))
	})
}

type companyRetentionCmd struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
	Audit   string `required:"" help:"How long audit entries keep their values, in days: 400d. off keeps them for ever."`
}

// Run sets how long a company keeps the values in its audit entries.
func (m *companyRetentionCmd) Run(ctx context.Context) error {
	keeps, err := parseDays(m.Audit)
	if err != nil {
		return fmt.Errorf("--audit: %w", err)
	}
	return m.inCompany(ctx, m.Company, "company retention", func(ctx context.Context, c *core) error {
		co, _, err := op.Run(ctx, c.engine, company.SetRetention, company.RetentionInput{ByID: op.ByID{ID: m.Company}, AuditDays: keeps}, nil)
		if err != nil {
			return err
		}
		said := "for ever"
		if co.AuditDays != nil {
			said = strconv.Itoa(*co.AuditDays) + " days"
		}
		return m.print(map[string]any{"company": map[string]any{"id": co.ID, "auditDays": co.AuditDays}},
			"audit entries keep their values  "+said, "Within a day of the change older ones lose them; the log's proofs stay good.")
	})
}

// parseDays reads a number of days such as 400d; off means no limit.
func parseDays(s string) (op.Patch[int], error) {
	if s == "off" {
		return op.Clear[int](), nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(s, "d"))
	if err != nil || !strings.HasSuffix(s, "d") || n < 1 || n > 36_500 {
		return op.Patch[int]{}, fmt.Errorf("%q is neither a number of days (1d to 36500d) nor off", s)
	}
	return op.SetTo(n), nil
}

// megabytes returns a company's own limit of bytes in megabytes.
func megabytes(bytes *int) *int {
	if bytes == nil {
		return nil
	}
	return new(*bytes / ratelimit.MB)
}

// ownOr formats a company's own limit.
func ownOr(n *int) string {
	if n == nil {
		return "as the plan says"
	}
	return strconv.Itoa(*n)
}

// orNull converts an optional flag: 0 clears the limit, nil leaves it unchanged.
func orNull(n *int) op.Patch[int] {
	if n == nil {
		return op.Patch[int]{}
	}
	if *n == 0 {
		return op.Clear[int]()
	}
	return op.SetTo(*n)
}
