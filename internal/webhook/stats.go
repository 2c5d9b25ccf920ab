package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/webhookdelivery"
	"atrium/ent/webhooksubscription"
	"atrium/internal/op"
	"atrium/internal/platform/period"
)

// Stats returns how the deliveries of a period stand, for charts. The database counts them, because there may be a million. It
// reads only an index for that, not the attempts.
var Stats = op.New("webhookdelivery.stats", op.Spec{
	Resource: "WebhookDelivery", Action: op.Read, AdminLayer: true, Summary: "Read figures of the webhook deliveries of a time",
}, stats)

// maxStatsRows is how many deliveries one call may count.
const maxStatsRows = 1_000_000

// StatsInput is the period, and what the figures are grouped by.
type StatsInput struct {
	period.Input
	By string `json:"by" enum:"day,week,subscription"`
}

// Stat holds the figures of a day, a week or a subscription: the present outcomes of the deliveries of events that happened in
// it.
type Stat struct {
	Key       string // YYYY-MM-DD of the day, or of the week's Monday, UTC; the id of the subscription
	Succeeded int
	Failed    int // given up
	Pending   int
}

// dayCount is a row of the counting query. Either Day or SubscriptionID is set.
type dayCount struct {
	Day            string                  `json:"day"`
	SubscriptionID string                  `json:"subscription_id"`
	Outcome        webhookdelivery.Outcome `json:"outcome"`
	Count          int                     `json:"count"`
}

// stats returns days and weeks in their order, and subscriptions with the most failures first. Days and subscriptions without
// deliveries are left out.
func stats(ctx context.Context, tx *op.Tx, in StatsInput) ([]*Stat, error) {
	from, to, err := in.Bounds()
	if err != nil {
		return nil, err
	}
	where := []predicate.WebhookDelivery{
		webhookdelivery.OutcomeIn(outcomes...), webhookdelivery.CreatedAtGTE(from), webhookdelivery.CreatedAtLT(to), // in the order of the index's columns
	}
	n, err := countUpTo(ctx, tx, maxStatsRows+1, [][]predicate.WebhookDelivery{where})
	switch {
	case err != nil:
		return nil, err
	case n > maxStatsRows:
		return nil, period.TooMany(maxStatsRows, "deliveries")
	}
	var rows []dayCount
	if in.By == "subscription" {
		ids, readErr := tx.WebhookSubscription.Query().Order(webhooksubscription.ByID()).Limit(maxSubscriptions).IDs(ctx)
		if readErr != nil {
			return nil, fmt.Errorf("read the subscriptions: %w", readErr)
		}
		where = append(where, webhookdelivery.SubscriptionIDIn(ids...))
		err = tx.WebhookDelivery.Query().Where(where...).GroupBy(webhookdelivery.FieldSubscriptionID, webhookdelivery.FieldOutcome).
			Aggregate(ent.Count()).Scan(ctx, &rows)
	} else {
		err = tx.WebhookDelivery.Query().Where(where...).GroupBy(webhookdelivery.FieldOutcome).Aggregate(perDay, ent.Count()).Scan(ctx, &rows)
	}
	if err != nil {
		return nil, fmt.Errorf("count the deliveries of the time: %w", err)
	}
	return tally(in.By, rows)
}

// perDay groups by the day of the event in UTC, and returns the column with the day.
func perDay(s *sql.Selector) string {
	day := "substr(" + s.C(webhookdelivery.FieldCreatedAt) + ", 1, 10)"
	if s.Dialect() == dialect.Postgres {
		day = "to_char(" + s.C(webhookdelivery.FieldCreatedAt) + " AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
	}
	s.GroupBy(day)
	return sql.As(day, "day")
}

func tally(by string, rows []dayCount) ([]*Stat, error) {
	all := map[string]*Stat{}
	for _, r := range rows {
		key := r.SubscriptionID
		if by != "subscription" {
			day, err := time.Parse(time.DateOnly, r.Day)
			if err != nil {
				return nil, fmt.Errorf("read the day of a count: %w", err)
			}
			key = period.Key(by, day)
		}
		s := all[key]
		if s == nil {
			s = &Stat{Key: key}
			all[key] = s
		}
		switch r.Outcome {
		case webhookdelivery.OutcomeSUCCESS:
			s.Succeeded += r.Count
		case webhookdelivery.OutcomeFAILED:
			s.Failed += r.Count
		case webhookdelivery.OutcomePENDING:
			s.Pending += r.Count
		}
	}
	out := make([]*Stat, 0, len(all))
	for _, s := range all {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Stat) int {
		if by == "subscription" && a.Failed != b.Failed {
			return b.Failed - a.Failed
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out, nil
}
