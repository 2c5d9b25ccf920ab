package request

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/period"
	"atrium/internal/platform/store"
)

// columnOf maps what reports tell requests apart by to the column that is read for it.
var columnOf = map[string]string{
	"service": request.FieldServiceID, "offering": request.FieldOfferingID, "team": request.FieldTeamID, "assignee": request.FieldAssigneeID,
	"organization": request.FieldServiceID, "priority": request.FieldPriority,
}

// What the number tells of a request that a statement selects as reportFlags.
const (
	flagOpen = 1 << iota
	flagReopened
	flagMet
	flagMissed
	flagStars = iota // the rating, shifted so far
)

// reportFlags selects what figures count of a request, apart from its moments, as one number: one column is read in a fraction of the
// time of four.
func reportFlags(s *sql.SelectTable) string {
	when := func(condition string, flag int) string {
		return fmt.Sprintf("CASE WHEN %s THEN %d ELSE 0 END", condition, flag)
	}
	return when(s.C(request.FieldStatus)+" IN ('PENDING', 'IN_PROGRESS')", flagOpen) + " + " +
		when(s.C(request.FieldReopenCount)+" > 0", flagReopened) + " + " +
		when(s.C(request.FieldSLAState)+" = 'MET'", flagMet) + " + " +
		when(s.C(request.FieldSLAState)+" = 'BREACHED'", flagMissed) + " + " +
		fmt.Sprintf("coalesce(%s, 0) * %d", s.C(request.FieldSatisfaction), 1<<flagStars)
}

// count reads the requests that the filter finds and counts them.
func (t *tally) count(ctx context.Context, tx *op.Tx, in ListInput, by []string) error {
	where, err := in.matching(ctx, tx, own(tx))
	if err != nil {
		return err
	}
	var of map[string][]byte
	if slices.Contains(by, "organization") {
		if of, err = organizations(ctx, tx); err != nil {
			return err
		}
	}
	before, to := time.UnixMicro(t.before).UTC(), time.UnixMicro(t.to).UTC()
	r := reading{tx: tx, tally: t, by: by, organizations: of}
	filed := request.And(request.CreatedAtGTE(before), request.CreatedAtLT(to))
	ended := request.And(request.CreatedAtLT(before), request.Or(
		request.And(request.CompletedAtGTE(before), request.CompletedAtLT(to)), request.And(request.CancelledAtGTE(before), request.CancelledAtLT(to)),
	))
	for _, part := range []predicate.Request{filed, ended} {
		if _, err := op.Bounded(ctx, tx, request.Table, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, r.part(ctx, append(slices.Clone(where), part))
		}); err != nil {
			return fmt.Errorf("read the requests of the time: %w", err)
		}
	}
	t.finish()
	return nil
}

// reading reads requests into a tally.
type reading struct {
	tx            *op.Tx
	tally         *tally
	by            []string
	organizations map[string][]byte // by service
	rows          int
}

// part reads the requests that match. It goes through the driver, because a report may read a million: Ent would make an object of each.
func (r *reading) part(ctx context.Context, where []predicate.Request) (err error) {
	drv := ent.DriverOf(r.tx.Client)
	d := sql.Dialect(drv.Dialect())
	t := d.Table(request.Table)
	s := d.Select().From(t).WithContext(ctx).Where(sql.EQ(t.C(request.FieldCompanyID), r.tx.Principal().CompanyID))
	if narrow := r.tx.Visible(request.Table); narrow != nil {
		narrow(s)
	}
	for _, p := range where {
		p(s)
	}
	for _, column := range []string{request.FieldCreatedAt, request.FieldAcceptedAt, request.FieldCompletedAt, request.FieldCancelledAt} {
		s.AppendSelect(store.MicrosOf(drv.Dialect(), t.C(column)))
	}
	s.AppendSelectExpr(sql.Raw(reportFlags(t)))
	for _, by := range r.by {
		s.AppendSelect(t.C(columnOf[by]))
	}
	query, args := s.Limit(r.tally.most + 1 - r.rows).Query()
	var rows sql.Rows
	if err := drv.Query(ctx, query, args, &rows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if err := r.scan(ctx, rows); err != nil {
		return err
	}
	return rows.Err()
}

// scan counts the rows of a statement.
func (r *reading) scan(ctx context.Context, rows sql.Rows) error {
	var moments [4]store.Micros
	var flags int
	texts, values := make([]store.Bytes, len(r.by)), make([][]byte, len(r.by))
	into := []any{&moments[0], &moments[1], &moments[2], &moments[3], &flags}
	for i := range texts {
		into = append(into, &texts[i])
	}
	for rows.Next() {
		if r.rows++; r.rows > r.tally.most {
			return period.TooMany(r.tally.most, "requests")
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, by := range r.by {
			if values[i] = texts[i]; by == "organization" {
				values[i] = r.organizations[string(texts[i])]
			}
		}
		l := lifeOf(moments, flags)
		r.tally.add(&l, values)
		if r.rows%1024 == 0 && ctx.Err() != nil { // SQLite's driver looks at it before the first row only
			return ctx.Err()
		}
	}
	return nil
}

func lifeOf(moments [4]store.Micros, flags int) life {
	at := func(m store.Micros) int64 {
		if !m.Valid {
			return never
		}
		return m.At
	}
	return life{
		created: at(moments[0]), accepted: at(moments[1]), completed: at(moments[2]), cancelled: at(moments[3]),
		open: flags&flagOpen != 0, reopened: flags&flagReopened != 0, met: flags&flagMet != 0, missed: flags&flagMissed != 0, stars: flags >> flagStars,
	}
}
