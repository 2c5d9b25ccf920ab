package timer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

const (
	companyShare = 100 // rows of a company that one pass takes, before it comes to the other companies
	mostAside    = 500 // companies that may be set aside in one sweep
)

// Sweep fires what has fallen due at the clocks of all companies, in small transactions, each of one company. A company at which very much
// has fallen due waits for the others after each share of it. Sweep returns the next moment at which something falls due; zero for none
// within the interval.
func (k Kind) Sweep(ctx context.Context, e *op.Engine, now time.Time) (next time.Time, err error) {
	ctx = principal.System(ctx, "the clocks of all companies are kept together")
	var errs []error
	begun := map[string]due{}
	for left := true; left && ctx.Err() == nil; {
		p := &pass{Kind: k, engine: e, now: now, begun: begun, taken: map[string]int{}}
		errs = append(errs, jobs.Due(ctx, sweepBatch, func(last *due) ([]*due, error) { return p.page(ctx, last) }, func(rows []*due) error { return p.fire(ctx, rows) }))
		left = len(p.aside) > 0
		if at := e.Store.Clock().Now(); left && at.After(now) {
			now = at // what has fallen due at other companies meanwhile
		}
	}
	err = errors.Join(errs...)
	var soon []due
	match := sql.AndPredicates(sql.FieldGT(nextAt, now), sql.FieldLTE(nextAt, now.Add(sweepEvery)))
	if lookErr := k.Due(e.Store.Reader(), match, 1).Scan(ctx, &soon); lookErr != nil || len(soon) == 0 {
		return time.Time{}, errors.Join(err, lookErr)
	}
	return soon[0].At, err
}

// pass is one look at all companies, which fires what has fallen due by now: at most companyShare rows of each of them.
type pass struct {
	Kind
	engine *op.Engine
	now    time.Time
	begun  map[string]due // the last row of each company whose share was used up, in any pass: a row that fails does not hold up those after it
	taken  map[string]int // rows, by company
	aside  []any          // companies whose share is used up, and that have more
}

// page returns the next rows after the last one.
func (p *pass) page(ctx context.Context, last *due) (rows []*due, err error) {
	match := []func(*sql.Selector){sql.FieldLTE(nextAt, p.now), p.unseen}
	if last != nil {
		match = append(match, jobs.After[func(*sql.Selector)](nextAt, last.At, last.ID))
	}
	if err := p.Due(p.engine.Store.Reader(), sql.AndPredicates(match...), sweepBatch).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("look for %s whose moment has come: %w", p.Name, err)
	}
	return rows, nil
}

// unseen leaves out the companies that are aside, and the rows that earlier passes have seen.
func (p *pass) unseen(s *sql.Selector) {
	if len(p.aside) > 0 {
		s.Where(sql.NotIn(s.C(request.FieldCompanyID), p.aside...))
	}
	for company, last := range p.begun {
		s.Where(sql.Or(sql.NEQ(s.C(request.FieldCompanyID), company), sql.CompositeGT([]string{s.C(nextAt), s.C("id")}, last.At.UTC(), last.ID)))
	}
}

// fire advances the rows of each company as far as its share goes.
func (p *pass) fire(ctx context.Context, rows []*due) error {
	var errs []error
	for _, list := range byCompany(rows) {
		company := list[0].Company
		if room := companyShare - p.taken[company]; len(list) > room && len(p.begun) < mostAside {
			p.aside, list = append(p.aside, company), list[:room]
		}
		if len(list) == 0 {
			continue
		}
		p.taken[company] += len(list)
		if p.taken[company] >= companyShare && len(p.begun) < mostAside {
			p.begun[company] = *list[len(list)-1]
		}
		ids := make([]string, len(list))
		for i, d := range list {
			ids[i] = d.ID
		}
		errs = append(errs, InTurns(ctx, p.engine, company, ids, p.Batch, func(ctx context.Context, tx *op.Tx, ids []string) ([]string, error) {
			return p.Advance(ctx, tx, ids, p.now)
		}))
	}
	return errors.Join(errs...)
}

// byCompany returns the rows of each company, in their order.
func byCompany(rows []*due) (out [][]*due) {
	index := map[string]int{}
	for _, d := range rows {
		i, ok := index[d.Company]
		if !ok {
			i = len(out)
			index[d.Company], out = i, append(out, nil)
		}
		out[i] = append(out[i], d)
	}
	return out
}
