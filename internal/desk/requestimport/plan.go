package requestimport

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atrium/ent/request"
	requests "atrium/internal/desk/request"
	"atrium/internal/op"
)

// checkedAtOnce is how many rows are looked at together: what they name is looked up in a statement for each kind.
const checkedAtOnce = 500

// plan is a table with what is needed to make requests of its rows.
type plan struct {
	names

	tx        *op.Tx // outside of any transaction
	table     *table
	settings  Settings
	companyID string
	by        string // who brings it in
	zone      *time.Location
	now       time.Time
}

func planOf(ctx context.Context, tx *op.Tx, t *table, s Settings, by string) (*plan, error) {
	c, err := tx.Company.Query().Only(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the company: %w", err)
	}
	zone, err := time.LoadLocation(op.Or(c.TimeZone, "UTC"))
	if err != nil {
		return nil, fmt.Errorf("read the company's zone: %w", err)
	}
	return &plan{tx: tx, table: t, settings: s, companyID: c.ID, by: by, zone: zone, now: tx.Now(ctx)}, nil
}

// items reads some rows, and checks them as they would be brought in.
func (p *plan) items(ctx context.Context, from, to int) ([]item, error) {
	if err := p.find(ctx, from, to); err != nil {
		return nil, err
	}
	out := make([]item, 0, to-from)
	err := p.tx.Costly(ctx, func(context.Context) error {
		for n := from; n < to; n++ {
			out = append(out, p.read(n))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var ids []string
	for i := range out {
		if err := p.form(ctx, &out[i]); err != nil {
			return nil, err
		}
		if out[i].in.ID != "" {
			ids = append(ids, out[i].in.ID)
		}
	}
	there, err := p.there(ctx, ids)
	for i := range out {
		out[i].known = there[out[i].in.ID]
	}
	return out, err
}

// form checks the answers of a row by the form of its offering.
func (p *plan) form(ctx context.Context, it *item) error {
	if it.offering == nil || it.in.Fields == nil {
		return nil
	}
	details, err := requests.ImportFaults(ctx, p.tx, it.offering, it.in.Fields)
	if err != nil {
		return err
	}
	r := reading{p, nil, it}
	for _, d := range details {
		if _, at := p.table.column(d.Field); at >= 0 {
			r.fault(d.Field, "%s", d.Message)
		} else {
			r.fault(isFields, "must have another answer %s: %s", strings.TrimPrefix(d.Field, answerPrefix), d.Message)
		}
	}
	return nil
}

// there reports which of the ids are rows already, also rows that the caller may not see.
func (p *plan) there(ctx context.Context, ids []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := p.tx.Request.Query().Where(request.IDIn(ids...)).IDs(p.tx.Unfiltered(ctx, "a key is brought in once, whoever may see the request"))
	if err != nil {
		return nil, fmt.Errorf("look for the requests: %w", err)
	}
	for _, id := range found {
		out[id] = true
	}
	return out, nil
}
