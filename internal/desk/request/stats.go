package request

import (
	"context"

	"atrium/internal/op"
	"atrium/internal/platform/period"
)

// Stats returns how many requests were filed and finished in a period, and how long they took, for charts: a report by one thing, without
// filters, with the days of UTC.
var Stats = op.New("request.stats", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Read figures of the requests of a time",
}, stats)

// StatsInput is the period and the field to group by.
type StatsInput struct {
	period.Input
	By string `json:"by" enum:"day,week,service,team"`
}

// Stat holds the figures of a day, a week, a service or a team. Filed, Open, the durations and the service levels count
// requests that were filed in the period; Finished and Cancelled count requests that were finished or cancelled in it.
type Stat struct {
	Key           *string // YYYY-MM-DD of the day, or of the week's Monday, UTC; the id of the service or team; nil for no team
	Filed         int
	Finished      int
	Cancelled     int
	Open          int // how many of those filed are still open
	AnswerP50     *int
	AnswerP90     *int // minutes from filing to acceptance: the 50th and 90th percentile
	CompletionP50 *int
	CompletionP90 *int // minutes from filing to completion
	SLAMet        int
	SLAMissed     int
}

// stats leaves out what has no requests.
func stats(ctx context.Context, tx *op.Tx, in StatsInput) ([]*Stat, error) {
	from, to, err := in.Bounds()
	if err != nil {
		return nil, err
	}
	var steps []period.Step
	var by []string
	switch in.By {
	case "service", "team":
		by = []string{in.By}
	default:
		steps = period.Steps(in.By, from, to, from.Location())
	}
	t := newTally(from, from, to, steps, len(by))
	if err := t.read(ctx, tx, ListInput{}, by); err != nil {
		return nil, err
	}
	rows := t.stepRows()
	for _, g := range t.groups {
		rows = g.rows()
	}
	out := []*Stat{}
	for _, row := range rows {
		if f := row.Figures; f.Filed+f.Completed+f.Cancelled > 0 {
			out = append(out, &Stat{
				Key: row.Key, Filed: f.Filed, Finished: f.Completed, Cancelled: f.Cancelled, Open: f.Open, AnswerP50: f.FirstResponseP50,
				AnswerP90: f.FirstResponseP90, CompletionP50: f.ResolutionP50, CompletionP90: f.ResolutionP90, SLAMet: f.SLAMet, SLAMissed: f.SLAMissed,
			})
		}
	}
	return out, nil
}
