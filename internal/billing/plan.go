package billing

import (
	"slices"
	"time"
)

// Plan is a plan that a company can subscribe to.
type Plan struct {
	Name  string
	Title string
	Price int64 // cents a month
}

// Costs returns the price of a month in words.
func (p Plan) Costs() string {
	if p.Name == Enterprise {
		return "by agreement"
	}
	return Money(p.Price)
}

// Enterprise is the plan whose price is agreed on with the operator. Only the operator can give it to a company.
const Enterprise = "enterprise"

// Free is the plan of companies without a subscription.
const Free = "free"

// Plans lists all plans, cheapest first; Enterprise, which has no fixed price, is last.
var Plans = []Plan{
	{Name: Free, Title: "Free"},
	{Name: "pro", Title: "Pro", Price: 2_900},
	{Name: "starter", Title: "Starter", Price: 9_900},
	{Name: "growth", Title: "Growth", Price: 29_900},
	{Name: "business", Title: "Business", Price: 99_900},
	{Name: Enterprise, Title: "Enterprise"},
}

// PlanNames returns the names of all plans.
func PlanNames() []string {
	out := make([]string, len(Plans))
	for i, p := range Plans {
		out[i] = p.Name
	}
	return out
}

// planOf returns the plan of a name; the free plan for an unknown name.
func planOf(name string) Plan {
	return Plans[max(0, slices.IndexFunc(Plans, func(p Plan) bool { return p.Name == name }))]
}

// Period is a period for which a plan is paid: from Start (inclusive) to End (exclusive).
type Period struct{ Start, End time.Time }

// periodAt returns the monthly period, counted from anchor, that contains at.
func periodAt(anchor, at time.Time) Period {
	anchor, at = anchor.UTC(), at.UTC()
	n := (at.Year()-anchor.Year())*12 + int(at.Month()-anchor.Month())
	for addMonths(anchor, n).After(at) {
		n--
	}
	return Period{addMonths(anchor, n), addMonths(anchor, n+1)}
}

// addMonths returns the moment n calendar months after t, which is in UTC. In a shorter month it is the last day.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

// difference returns the charge or the credit of a change of plan for the rest of the period.
func (p Period) difference(from, to Plan, at time.Time) (charge, credit int64) {
	return p.prorate(max(to.Price-from.Price, 0), at), p.prorate(max(from.Price-to.Price, 0), at)
}

// prorate returns the share of cents for the rest of the period, by the second, rounded half up.
func (p Period) prorate(cents int64, at time.Time) int64 {
	whole := p.End.Unix() - p.Start.Unix()
	left := min(max(p.End.Unix()-at.Unix(), 0), whole)
	return (2*cents*left + whole) / (2 * whole)
}
