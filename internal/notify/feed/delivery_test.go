package feed_test

import (
	"context"
	"testing"
	"time"

	"entgo.io/ent/dialect/sql"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/notify/feed"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook"
)

// subscribe creates a webhook subscription to created requests.
func (d *desk) subscribe(t *testing.T, c *testkit.Tenant, url string) *ent.WebhookSubscription {
	t.Helper()
	return testkit.Run(t, d.World, d.As(c, principal.Owner), webhook.CreateSubscription,
		webhook.CreateSubscriptionInput{URL: url, Events: []string{"request.created"}}).Subscription
}

// attempt records an attempt of a delivery as package webhook does.
func (d *desk) attempt(t *testing.T, id string, outcome webhookdelivery.Outcome) {
	t.Helper()
	require.NoError(t, d.Store.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
		return tx.WebhookDelivery.UpdateOneID(id).SetOutcome(outcome).SetAttempts([]byte(`[{}]`)).AddRetryCount(1).Exec(ctx)
	}))
}

// A delivery is reported when it is created and at every attempt, to watchers of its subscription on both nodes, whatever the
// product's clock says.
func TestDeliveries(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		mine, other := d.subscribe(t, d.A, "https://one.example/"), d.subscribe(t, d.A, "https://two.example/")
		d.subscribe(t, d.B, "https://three.example/")
		of := feed.Filter{CompanyID: d.A.Company.ID, ParentID: mine.ID}
		subs := []*feed.Subscription{watch(t, d.here, feed.Deliveries, of), watch(t, d.there, feed.Deliveries, of)}
		for _, offset := range []time.Duration{0, time.Hour, 48 * time.Hour} {
			d.Clock.SetOffset(offset)
			d.file(t, d.A)
			d.file(t, d.B)
			rows, err := d.Store.Reader().WebhookDelivery.Query().Where(webhookdelivery.OutcomeEQ(webhookdelivery.OutcomePENDING)).All(d.As(d.A, principal.Owner))
			require.NoError(t, err)
			require.Len(t, rows, 2)
			var id string
			for _, r := range rows {
				if r.SubscriptionID == mine.ID {
					id = r.ID
				}
			}
			for _, s := range subs {
				require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: id, ParentID: mine.ID, Created: true}}, take(t, s, 1))
			}
			for _, r := range rows {
				d.attempt(t, r.ID, webhookdelivery.OutcomeFAILED)
			}
			for _, s := range subs {
				require.Equal(t, []feed.Change{{CompanyID: d.A.Company.ID, ID: id, ParentID: mine.ID}}, take(t, s, 1))
			}
		}
		require.NotEqual(t, mine.ID, other.ID)
	})
}

// Another node updates a delivery before it learns that the product's clock was moved. The change is reported although this
// node's clock has moved already.
func TestClockMovedElsewhereFirst(t *testing.T) {
	each(t, func(t *testing.T, d *desk) {
		mine := d.subscribe(t, d.A, "https://one.example/")
		d.file(t, d.A)
		row, err := d.Store.Reader().WebhookDelivery.Query().Only(d.As(d.A, principal.Owner))
		require.NoError(t, err)
		s := watch(t, d.here, feed.Deliveries, feed.Filter{CompanyID: d.A.Company.ID, ParentID: mine.ID})
		old := d.Clock.Now()
		d.Clock.SetOffset(24 * time.Hour)
		require.NoError(t, d.elsewhere.Write(principal.System(t.Context(), "test"), func(ctx context.Context, tx *store.Tx) error {
			driver := ent.DriverOf(tx.Client)
			query, args := updated(driver.Dialect(), row.ID, old)
			return driver.Exec(ctx, query, args, nil)
		}))
		require.Equal(t, row.ID, take(t, s, 1)[0].ID)
	})
}

// updated returns the statement that settles a delivery at the given time.
func updated(dialect, id string, at time.Time) (string, []any) {
	return sql.Dialect(dialect).Update(webhookdelivery.Table).Set(webhookdelivery.FieldUpdatedAt, at).
		Set(webhookdelivery.FieldOutcome, "SUCCESS").Where(sql.EQ(webhookdelivery.FieldID, id)).Query()
}
