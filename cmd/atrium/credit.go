package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"atrium/internal/billing"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
)

// centsFlag is an amount in cents. It is parsed as decimal digits; the flag parser's integers would read 010 as eight.
type centsFlag int64

// UnmarshalText parses the digits.
func (c *centsFlag) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return errors.New("must be a whole number of cents")
	}
	*c = centsFlag(n)
	return nil
}

type creditIssueCmd struct {
	dataFlags
	jsonFlag
	Company     string    `required:"" help:"The live company's id (co_…)."`
	Amount      centsFlag `required:"" help:"Cents."`
	Reason      string    `required:"" enum:"promotion,disruption,adjustment,enterprise" help:"promotion, disruption, adjustment or enterprise."`
	Description string    `required:"" help:"What the company reads in its history."`
}

// Run issues credit.
func (m *creditIssueCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "credit issue", func(ctx context.Context, c *core) error {
		e, _, err := op.Run(ctx, c.engine, billing.IssueCredit, billing.IssueCreditInput{
			Amount: int64(m.Amount), Reason: m.Reason, Description: m.Description,
		}, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"creditEntry": map[string]any{
			"id": e.ID, "type": e.Type, "amount": e.Amount, "description": e.Description, "date": e.CreatedAt.UTC().Format(clock.Format),
		}}, fmt.Sprintf("issued %d cents: %s", e.Amount, e.ID))
	})
}
