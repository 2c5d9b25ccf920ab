package billing

import (
	"slices"
	"time"
)

// Plan is what a company can subscribe to.
type Plan struct {
	Name  string
	Title string
	Price int64 // cents a month
}

// Costs says what a month costs.
func (p Plan) Costs() string {
	if p.Name == Enterprise {
		return "by agreement"
	}
	return Money(p.Price)
}

// Enterprise is the plan whose price is agreed on with the operator, who alone gives and takes it.
const Enterprise = "enterprise"

// Free is the plan of whoever has not subscribed.
const Free = "free"

// Plans are all plans, the cheapest first.
var Plans = []Plan{
	{Name: Free, Title: "Free"},
	{Name: "pro", Title: "Pro", Price: 2_900},
	{Name: "starter", Title: "Starter", Price: 9_900},
	{Name: "growth", Title: "Growth", Price: 29_900},
	{Name: "business", Title: "Business", Price: 99_900},
	{Name: Enterprise, Title: "Enterprise"},
}

// PlanNames are the plans' names, as everywhere.
func PlanNames() []string {
	out := make([]string, len(Plans))
	for i, p := range Plans {
		out[i] = p.Name
	}
	return out
}

// planOf returns the plan of a name; the free one when there is none.
func planOf(name string) Plan {
	return Plans[max(0, slices.IndexFunc(Plans, func(p Plan) bool { return p.Name == name }))]
}

// Period is a time for which a plan is paid: from its start, up to its end.
type Period struct{ Start, End time.Time }

// periodAt returns the month, counted from anchor, that a moment lies in.
func periodAt(anchor, at time.Time) Period {
	anchor, at = anchor.UTC(), at.UTC()
	n := (at.Year()-anchor.Year())*12 + int(at.Month()-anchor.Month())
	for addMonths(anchor, n).After(at) {
		n--
	}
	return Period{addMonths(anchor, n), addMonths(anchor, n+1)}
}

// addMonths returns the moment n calendar months after t, which is in UTC, on the month's last day where it has no such day.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// difference returns what a change of plan charges, or else gives as a credit, for what is left of the period at a moment.
func (p Period) difference(from, to Plan, at time.Time) (charge, credit int64) {
	return p.prorate(max(to.Price-from.Price, 0), at), p.prorate(max(from.Price-to.Price, 0), at)
}

// prorate returns the part of cents that falls on what is left of the period at a moment, by the second, rounded half up.
func (p Period) prorate(cents int64, at time.Time) int64 {
	whole := p.End.Unix() - p.Start.Unix()
	left := min(max(p.End.Unix()-at.Unix(), 0), whole)
	return (2*cents*left + whole) / (2 * whole)
}
