package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/op"
)

// Count counts the requests that a list would find, grouped by one of their fields. Inboxes show the counts on
// their tabs.
var Count = op.New("request.count", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Count requests by one of their fields",
}, count)

// maxCounts limits the number of values that get a count of their own.
const maxCounts = 100

// counted is a row of the grouped query; only the grouped column is set.
type counted struct {
	Status     *string `json:"status"`
	Priority   *string `json:"priority"`
	ServiceID  *string `json:"service_id"`
	OfferingID *string `json:"offering_id"`
	AssigneeID *string `json:"assignee_id"`
	TeamID     *string `json:"team_id"`
	SLAState   *string `json:"sla_state"`
	Count      int     `json:"count"`
}

// countBy maps the fields that requests can be counted by to their columns, and to the value in a row.
var countBy = map[string]struct {
	column string
	value  func(counted) *string
}{
	"status":     {request.FieldStatus, func(c counted) *string { return c.Status }},
	"priority":   {request.FieldPriority, func(c counted) *string { return c.Priority }},
	"serviceId":  {request.FieldServiceID, func(c counted) *string { return c.ServiceID }},
	"offeringId": {request.FieldOfferingID, func(c counted) *string { return c.OfferingID }},
	"assigneeId": {request.FieldAssigneeID, func(c counted) *string { return c.AssigneeID }},
	"teamId":     {request.FieldTeamID, func(c counted) *string { return c.TeamID }},
	"slaState":   {request.FieldSLAState, func(c counted) *string { return c.SLAState }},
}

// CountInput filters as the list does.
type CountInput struct {
	ListInput
	By string `json:"by" enum:"status,priority,serviceId,offeringId,assigneeId,teamId,slaState"`
}

// Counted is the number of requests with one value.
type Counted struct {
	Value *string `json:"value"` // nil for requests without a value
	Count int     `json:"count"`
}

// count returns the most frequent values first, and leaves out values without requests.
func count(ctx context.Context, tx *op.Tx, in CountInput) ([]*Counted, error) {
	if counts, ok, err := in.fromCounters(ctx, tx); ok || err != nil {
		return counts, err
	}
	by := countBy[in.By]
	most := func(s *sql.Selector) { s.OrderBy("COUNT(*) DESC", s.C(by.column)).Limit(maxCounts) }
	var rows []counted
	where, err := in.matching(ctx, tx, own(tx))
	if err != nil {
		return nil, err
	}
	if err := tx.Request.Query().Where(append(where, most)...).GroupBy(by.column).Aggregate(ent.Count()).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("count the requests by %s: %w", in.By, err)
	}
	counts := make([]*Counted, len(rows))
	for i, row := range rows {
		counts[i] = &Counted{by.value(row), row.Count}
	}
	return counts, nil
}

// The statuses and priorities as the keys of the counters that triggers maintain, in the order in which they are counted.
var (
	statuses   = []string{"PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED"}
	priorities = []string{"LOW", "MEDIUM", "HIGH", "URGENT"}
)

// fromCounters answers from the counters that triggers maintain. They know only counts by status or priority
// over all rows.
func (in CountInput) fromCounters(ctx context.Context, tx *op.Tx) (counts []*Counted, ok bool, err error) {
	values := map[string][]string{"status": statuses, "priority": priorities}[in.By]
	if _, ok := in.counter(tx); !ok || values == nil || tx.Narrowed("Request") {
		return nil, false, nil
	}
	for _, value := range values {
		one := in.ListInput
		field := &one.Status
		if in.By == "priority" {
			field = &one.Priority
		}
		if len(*field) > 0 && !slices.Contains(*field, value) {
			continue // filtered out
		}
		*field = []string{value}
		counter, ok := one.counter(tx)
		if !ok {
			return nil, false, nil
		}
		n, err := counter.Count(ctx, tx)
		if err != nil {
			return nil, false, err
		}
		if n > 0 {
			counts = append(counts, &Counted{&value, n})
		}
	}
	slices.SortStableFunc(counts, func(a, b *Counted) int { return cmp.Compare(b.Count, a.Count) })
	return counts, true, nil
}
