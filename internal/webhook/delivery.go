package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

var deliverySorts = op.Sorts{"createdAt": webhookdelivery.FieldCreatedAt}

// The operations that read the history.
var (
	ListDeliveries = op.New("webhookdelivery.list", op.Spec{
		Resource: "WebhookDelivery", Action: op.Read, AdminLayer: true, Sorts: deliverySorts, Summary: "List webhook deliveries",
	}, listDeliveries)

	GetDelivery = op.Get("webhookdelivery.read", op.Spec{
		Resource: "WebhookDelivery", Action: op.Read, AdminLayer: true, Summary: "Get a webhook delivery",
	}, loadDelivery)
)

// Attempt is one call of a receiver, as the history keeps it.
type Attempt struct {
	At           time.Time `json:"at"`
	StatusCode   *int      `json:"statusCode"`   // nil when no answer came
	ResponseBody *string   `json:"responseBody"` // the first 1 KB; nil when no answer came
	LatencyMs    int       `json:"latencyMs"`
	Error        *string   `json:"error"`          // "class: explanation" when there was no whole answer
	Step         int       `json:"step,omitempty"` // of the schedule of retries, from 1; not shown to callers
}

// AttemptsOf returns a delivery's attempts, the first one first.
func AttemptsOf(d *ent.WebhookDelivery) ([]Attempt, error) {
	if len(d.Attempts) == 0 {
		return []Attempt{}, nil
	}
	var list []Attempt
	if err := json.Unmarshal(d.Attempts, &list); err != nil {
		return nil, fmt.Errorf("read the attempts of %s: %w", d.ID, err)
	}
	return list, nil
}

// ListDeliveriesInput filters and pages the history.
type ListDeliveriesInput struct {
	paging.Page
	SubscriptionID *string  `json:"-"` // only deliveries of this subscription
	Outcome        []string `json:"-" query:"outcome" enum:"PENDING,SUCCESS,FAILED"`
}

// MaxCounted is the largest total that the list of deliveries reports: counting millions of rows would take longer than reading a
// page of them, and nobody needs the exact number.
const MaxCounted = 10_000

// listDeliveries returns not_found for a subscription that the company does not have.
func listDeliveries(ctx context.Context, tx *op.Tx, in ListDeliveriesInput) (paging.List[*ent.WebhookDelivery], error) {
	if in.SubscriptionID != nil {
		if _, err := tx.WebhookSubscription.Query().Where(webhooksubscription.ID(*in.SubscriptionID)).OnlyID(ctx); err != nil {
			return paging.List[*ent.WebhookDelivery]{}, err
		}
	}
	filters := in.filters()
	count := func(ctx context.Context) (int, error) { return countUpTo(ctx, tx, MaxCounted, filters) }
	return paging.Read(ctx, in.Page, deliverySorts, count, func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*ent.WebhookDelivery, error) {
		if len(filters) == 1 {
			return tx.WebhookDelivery.Query().Where(filters[0]...).Order(order).Offset(offset).Limit(limit).All(ctx)
		}
		var all []*ent.WebhookDelivery
		for _, where := range filters {
			rows, err := tx.WebhookDelivery.Query().Where(where...).Order(order).Limit(offset + limit).All(ctx)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
		slices.SortFunc(all, in.compare)
		return all[min(offset, len(all)):min(offset+limit, len(all))], nil
	})
}

// filters returns the conditions of the list; each row meets exactly one. There is one condition for each outcome, because an
// index holds the rows of one outcome in the order of the list, but not those of two: the database would read and sort all of
// them.
func (in ListDeliveriesInput) filters() [][]predicate.WebhookDelivery {
	var where []predicate.WebhookDelivery
	if in.SubscriptionID != nil {
		where = append(where, webhookdelivery.SubscriptionID(*in.SubscriptionID))
	}
	var each [][]predicate.WebhookDelivery
	for _, o := range outcomes {
		if slices.Contains(in.Outcome, string(o)) {
			each = append(each, append(slices.Clone(where), outcomeIs(o)))
		}
	}
	if len(each) == 0 || len(each) == len(outcomes) {
		return [][]predicate.WebhookDelivery{where}
	}
	return each
}

var outcomes = []webhookdelivery.Outcome{webhookdelivery.OutcomePENDING, webhookdelivery.OutcomeSUCCESS, webhookdelivery.OutcomeFAILED}

// compare orders rows as the list does.
func (in ListDeliveriesInput) compare(a, b *ent.WebhookDelivery) int {
	order := cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	if in.Sort == "" || strings.HasPrefix(in.Sort, "-") {
		return -order
	}
	return order
}

// outcomeIs writes the outcome into the statement as a literal. With a parameter the database would use one plan for all
// outcomes: it would expect one row in three to be pending, where one in ten thousand is, and scan a whole history for it.
func outcomeIs(o webhookdelivery.Outcome) predicate.WebhookDelivery {
	return func(s *sql.Selector) {
		column := s.C(webhookdelivery.FieldOutcome)
		s.Where(sql.P(func(b *sql.Builder) { b.Ident(column).WriteString(" = '" + string(o) + "'") }))
	}
}

// countUpTo counts the company's deliveries that meet one of the conditions, up to most.
func countUpTo(ctx context.Context, tx *op.Tx, most int, filters [][]predicate.WebhookDelivery) (int, error) {
	total := 0
	for _, where := range filters {
		n, err := op.Bounded(ctx, tx, webhookdelivery.Table, func(ctx context.Context) (int, error) { return countSome(ctx, tx, most-total, where) })
		if total = min(total+n, most); err != nil || total == most {
			return total, err
		}
	}
	return total, nil
}

func countSome(ctx context.Context, tx *op.Tx, most int, where []predicate.WebhookDelivery) (int, error) {
	d := sql.Dialect(ent.DriverOf(tx.Client).Dialect())
	t := d.Table(webhookdelivery.Table)
	some := d.SelectExpr(sql.Raw("1")).From(t).WithContext(ctx).Where(sql.EQ(t.C(webhookdelivery.FieldCompanyID), tx.Principal().CompanyID)).Limit(most)
	for _, p := range where {
		p(some)
	}
	if narrow := tx.Visible(webhookdelivery.Table); narrow != nil {
		narrow(some)
	}
	n, err := ent.ReadInt(ctx, tx.Client, d.Select("COUNT(*)").From(some.As("some")))
	if err != nil {
		return 0, fmt.Errorf("count the deliveries: %w", err)
	}
	return n, nil
}

func loadDelivery(ctx context.Context, tx *op.Tx, id string) (*ent.WebhookDelivery, error) {
	return op.Lock(tx, tx.WebhookDelivery.Query().Where(webhookdelivery.ID(id))).Only(ctx)
}
