package request

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"entgo.io/ent/dialect/sql"
	"golang.org/x/sync/errgroup"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/op"
	"atrium/internal/platform/period"
	"atrium/internal/platform/share"
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

// reportReaders is how many statements of a report run at once: more than half of what takes time is the database's.
const reportReaders = 2

// statements are the places of the statements of all reports of a process: half of the connections that read on SQLite. A company has
// those of one report.
var statements = share.New(max(reportReaders, runtime.GOMAXPROCS(0)), reportReaders)

// count reads the requests that the filter finds and counts them. The statements may see different moments; none counts a request of
// another, because they are told apart by when it was filed, which does not change, and by when it ended.
func (t *tally) count(ctx context.Context, tx *op.Tx, in ListInput, by []string) error {
	where, err := in.matching(ctx, tx, own(tx))
	if err != nil {
		return err
	}
	r := &reading{tx: tx, tally: t, by: by, where: where}
	if slices.Contains(by, "organization") {
		if r.organizations, err = organizations(ctx, tx); err != nil {
			return err
		}
	}
	readers, reading := errgroup.WithContext(ctx)
	readers.SetLimit(reportReaders)
	for _, part := range t.portions() {
		readers.Go(func() error {
			leave, err := statements.Take(reading, tx.Principal().CompanyID)
			if err != nil {
				return err
			}
			defer leave()
			_, err = op.Bounded(reading, tx, request.Table, func(ctx context.Context) (struct{}, error) { return struct{}{}, r.read(ctx, part) })
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		return fmt.Errorf("read the requests of the time: %w", err)
	}
	t.finish()
	return nil
}

// portion are requests that a statement reads.
type portion struct {
	where  predicate.Request
	inTime bool // they count in the time, so that what groups tell them apart by is read
}

// portions divide the requests that count.
func (t *tally) portions() []portion {
	before, from, middle, to := microTime(t.before), microTime(t.from), microTime(t.from+(t.to-t.from)/2), microTime(t.to)
	out := []portion{
		{filedIn(middle, to), true}, {filedIn(from, middle), true},
		{request.And(request.CreatedAtLT(from), endedIn(from, to)), true},
	}
	if t.before < t.from {
		out = append(out,
			portion{request.And(filedIn(before, from), notEndedIn(from, to)), false},
			portion{request.And(request.CreatedAtLT(before), endedIn(before, from), notEndedIn(from, to)), false},
		)
	}
	return out
}

func microTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func filedIn(from, to time.Time) predicate.Request {
	return request.And(request.CreatedAtGTE(from), request.CreatedAtLT(to))
}

func endedIn(from, to time.Time) predicate.Request {
	return request.Or(
		request.And(request.CompletedAtGTE(from), request.CompletedAtLT(to)), request.And(request.CancelledAtGTE(from), request.CancelledAtLT(to)),
	)
}

func notEndedIn(from, to time.Time) predicate.Request {
	return request.And(
		request.Or(request.CompletedAtIsNil(), request.CompletedAtLT(from), request.CompletedAtGTE(to)),
		request.Or(request.CancelledAtIsNil(), request.CancelledAtLT(from), request.CancelledAtGTE(to)),
	)
}

// reading reads requests into a tally.
type reading struct {
	tx            *op.Tx
	by            []string
	where         []predicate.Request
	organizations map[string][]byte // by service

	mu    sync.Mutex
	tally *tally
	rows  int
}

// read reads a portion. It goes through the driver, because a report may read a million requests: Ent would make an object of each.
func (r *reading) read(ctx context.Context, part portion) (err error) {
	drv := ent.DriverOf(r.tx.Client)
	d := sql.Dialect(drv.Dialect())
	t := d.Table(request.Table)
	s := d.Select().From(t).WithContext(ctx).Where(sql.EQ(t.C(request.FieldCompanyID), r.tx.Principal().CompanyID))
	if narrow := r.tx.Visible(request.Table); narrow != nil {
		narrow(s)
	}
	for _, p := range append(slices.Clone(r.where), part.where) {
		p(s)
	}
	for _, column := range []string{
		t.C(request.FieldCreatedAt), "COALESCE(" + t.C(request.FieldFirstResponseAt) + ", " + t.C(request.FieldAcceptedAt) + ")", // see respondedAt
		t.C(request.FieldCompletedAt), t.C(request.FieldCancelledAt),
	} {
		s.AppendSelect(store.MicrosOf(drv.Dialect(), column))
	}
	s.AppendSelectExpr(sql.Raw(reportFlags(t)))
	var by []string
	if part.inTime {
		by = r.by
	}
	for _, name := range by {
		s.AppendSelect(t.C(columnOf[name]))
	}
	query, args := s.Limit(r.tally.most + 1).Query()
	var rows sql.Rows
	if err := drv.Query(ctx, query, args, &rows); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return r.scan(ctx, rows, by)
}

// scan counts the rows of a statement.
func (r *reading) scan(ctx context.Context, rows sql.Rows, by []string) error {
	var moments [4]store.Micros
	var flags int
	texts, values := make([]store.Bytes, len(by)), make([][]byte, len(by))
	into := []any{&moments[0], &moments[1], &moments[2], &moments[3], &flags}
	for i := range texts {
		into = append(into, &texts[i])
	}
	for n := 1; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("scan a request: %w", err)
		}
		for i, name := range by {
			if values[i] = texts[i]; name == "organization" {
				values[i] = r.organizations[string(texts[i])]
			}
		}
		if err := r.add(lifeOf(moments, flags), values); err != nil {
			return err
		}
		if n%1024 == 0 && ctx.Err() != nil { // SQLite's driver looks at it before the first row only
			return ctx.Err()
		}
	}
	return rows.Err()
}

// add counts a request.
func (r *reading) add(l life, values [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows++; r.rows > r.tally.most {
		return period.TooMany(r.tally.most, "requests")
	}
	r.tally.add(&l, values)
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
		created: at(moments[0]), responded: at(moments[1]), completed: at(moments[2]), cancelled: at(moments[3]),
		open: flags&flagOpen != 0, reopened: flags&flagReopened != 0, met: flags&flagMet != 0, missed: flags&flagMissed != 0, stars: flags >> flagStars,
	}
}
