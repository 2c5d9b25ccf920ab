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

// Count counts the requests that a list would find, by one of their fields: what stands on the tabs of an inbox.
var Count = op.New("request.count", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Count requests by one of their fields",
}, count)

// maxCounts bounds the values that are counted apart.
const maxCounts = 100

// counted is a row of counts; one of its values is set.
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

// countBy are the columns that requests are counted by, and where a row has them.
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

// Counted is how many requests have a value.
type Counted struct {
	Value *string `json:"value"` // nil for those that have none
	Count int     `json:"count"`
}

// count returns the most frequent values first, and no values without requests.
func count(ctx context.Context, tx *op.Tx, in CountInput) ([]*Counted, error) {
	if counts, ok, err := in.kept(ctx, tx); ok || err != nil {
		return counts, err
	}
	by := countBy[in.By]
	most := func(s *sql.Selector) { s.OrderBy("COUNT(*) DESC", s.C(by.column)).Limit(maxCounts) }
	var rows []counted
	if err := tx.Request.Query().Where(append(in.where(tx), most)...).GroupBy(by.column).Aggregate(ent.Count()).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("count the requests by %s: %w", in.By, err)
	}
	counts := make([]*Counted, len(rows))
	for i, row := range rows {
		counts[i] = &Counted{by.value(row), row.Count}
	}
	return counts, nil
}

// kept answers from the counters that triggers keep, where they know it: by status or priority, of all rows.
func (in CountInput) kept(ctx context.Context, tx *op.Tx) (counts []*Counted, ok bool, err error) {
	values := map[string][]string{
		"status": {"PENDING", "IN_PROGRESS", "COMPLETED", "CANCELLED"}, "priority": {"LOW", "MEDIUM", "HIGH", "URGENT"},
	}[in.By]
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
