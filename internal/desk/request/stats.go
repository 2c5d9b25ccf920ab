package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/period"
)

// Stats returns how many requests were filed and finished in a period, and how long they took, for charts. One statement reads
// the columns of at most 50,000 requests. The rest is computed in Go, so that both databases agree on days and percentiles.
var Stats = op.New("request.stats", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Read figures of the requests of a time",
}, stats)

// maxStatsRows bounds the requests of one call.
const maxStatsRows = 50_000

// StatsInput is the period and the field to group by.
type StatsInput struct {
	period.Input
	By string `json:"by" enum:"day,week,service,team"`
}

// Stat holds the figures of a day, a week, a service or a team. Filed, Open, the durations and the service levels count
// requests that were filed in the period; Finished and Cancelled count requests that were finished or cancelled in it.
type Stat struct {
	Key            *string // YYYY-MM-DD of the day, or of the week's Monday, UTC; the id of the service or team; nil for no team
	Filed          int
	Finished       int
	Cancelled      int
	Open           int // how many of those filed are still open
	AnswerP50      *int
	AnswerP90      *int // minutes from filing to acceptance: the 50th and 90th percentile
	CompletionP50  *int
	CompletionP90  *int // minutes from filing to completion
	SLAMet         int
	SLAMissed      int
	answer, finish []int
}

func stats(ctx context.Context, tx *op.Tx, in StatsInput) ([]*Stat, error) {
	from, to, err := in.Bounds()
	if err != nil {
		return nil, err
	}
	within := func(at *time.Time) bool { return at != nil && !at.Before(from) && at.Before(to) }
	q := tx.Request.Query().Where(own(tx)...).Where(request.Or(
		request.And(request.CreatedAtGTE(from), request.CreatedAtLT(to)), request.And(request.CompletedAtGTE(from), request.CompletedAtLT(to)),
		request.And(request.CancelledAtGTE(from), request.CancelledAtLT(to)),
	)).Limit(maxStatsRows + 1)
	q.Select(request.FieldCreatedAt, request.FieldAcceptedAt, request.FieldCompletedAt, request.FieldCancelledAt, request.FieldStatus,
		request.FieldServiceID, request.FieldTeamID, request.FieldSLAState)
	rows, err := q.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the requests of the time: %w", err)
	}
	if len(rows) > maxStatsRows {
		return nil, period.TooMany(maxStatsRows, "requests")
	}
	all := map[string]*Stat{}
	of := func(r *ent.Request, at time.Time) *Stat {
		key := statKey(in.By, r, at)
		s := all[op.Or(key, "")]
		if s == nil {
			s = &Stat{Key: key}
			all[op.Or(key, "")] = s
		}
		return s
	}
	for _, r := range rows {
		if within(&r.CreatedAt) {
			of(r, r.CreatedAt).file(r)
		}
		if within(r.CompletedAt) {
			of(r, *r.CompletedAt).Finished++
		}
		if within(r.CancelledAt) {
			of(r, *r.CancelledAt).Cancelled++
		}
	}
	out := make([]*Stat, 0, len(all))
	for _, s := range all {
		s.AnswerP50, s.AnswerP90 = percentile(s.answer, 50), percentile(s.answer, 90)
		s.CompletionP50, s.CompletionP90 = percentile(s.finish, 50), percentile(s.finish, 90)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Stat) int {
		byKey := cmp.Compare(op.Or(a.Key, ""), op.Or(b.Key, ""))
		if in.By == "service" || in.By == "team" {
			return cmp.Or(cmp.Compare(b.Filed, a.Filed), byKey)
		}
		return byKey
	})
	return out, nil
}

// file counts a request that was filed in the period.
func (s *Stat) file(r *ent.Request) {
	s.Filed++
	if lifecycle.RequestOpen(r.Status) {
		s.Open++
	}
	if r.AcceptedAt != nil {
		s.answer = append(s.answer, int(r.AcceptedAt.Sub(r.CreatedAt).Minutes()))
	}
	if r.CompletedAt != nil {
		s.finish = append(s.finish, int(r.CompletedAt.Sub(r.CreatedAt).Minutes()))
	}
	switch op.Or(r.SLAState, "") {
	case request.SLAStateMET:
		s.SLAMet++
	case request.SLAStateBREACHED:
		s.SLAMissed++
	}
}

func statKey(by string, r *ent.Request, at time.Time) *string {
	switch by {
	case "service":
		return &r.ServiceID
	case "team":
		return r.TeamID
	}
	key := period.Key(by, at)
	return &key
}

// percentile returns the smallest value that at least p percent of the values do not exceed; nil for no values.
func percentile(values []int, p int) *int {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	at := (len(values)*p + 99) / 100
	return &values[max(at, 1)-1]
}
