package outbox

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/internal/events"
	"atrium/internal/id"
	"atrium/internal/store"
)

// Event is something that happened.
type Event struct {
	CompanyID string
	Name      string // one of events.All for those that have subscribers
	SubjectID string // the row that it is about
	At        time.Time
	Data      any // the payload's data
}

// Emit writes the event and the deliveries of all enabled subscriptions that ask for it, and wakes the workers once the
// transaction has committed. The context's principal must act in the event's company.
func Emit(ctx context.Context, tx *store.Tx, e Event) error {
	eventID, err := Record(ctx, tx, e)
	if err != nil {
		return err
	}
	if err := deliver(ctx, tx, eventID, e); err != nil {
		return fmt.Errorf("make the deliveries of an event: %w", err)
	}
	return nil
}

// Record writes the event alone and returns its id.
func Record(ctx context.Context, tx *store.Tx, e Event) (string, error) {
	payload, err := events.Payload(e.Name, e.At, e.Data)
	if err != nil {
		return "", err //nolint:wrapcheck // says what it was doing
	}
	eventID := id.New("evt")
	if err := tx.Event.Create().SetID(eventID).SetCreatedAt(e.At).SetType(e.Name).SetSubjectID(e.SubjectID).SetPayload(payload).Exec(ctx); err != nil {
		return "", fmt.Errorf("write the event: %w", err)
	}
	return eventID, nil
}

// A delivery's id is its event's with the last two digits replaced by the delivery's number among those of the event: no
// list of ids has to travel to the database for subscriptions that a company may not have. 10 of an id's 74 random bits
// are lost.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

const columns = `webhook_deliveries (id, created_at, updated_at, company_id, subscription_id, event_id, event, outcome, retry_count, next_attempt_at)`

// On PostgreSQL one statement makes the deliveries and their jobs.
const pgDeliver = `WITH made AS (
	INSERT INTO ` + columns + `
	SELECT 'whd_' || substr($1::text, 5, 24) || substr('` + digits + `', (1 + n / 32)::int, 1) || substr('` + digits + `', (1 + n % 32)::int, 1),
		$2::timestamptz, $2::timestamptz, $3::text, s.id, $1::text, $4::text, 'PENDING', 0, $2::timestamptz
	FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM webhook_subscriptions
		WHERE company_id = $3::text AND enabled AND events @> jsonb_build_array($4::text)) AS s
	RETURNING id, subscription_id)
INSERT INTO river_job (kind, queue, max_attempts, args)
SELECT '` + Kind + `', '` + Queue + `', ` + maxAttempts + `,
	jsonb_build_object('delivery', id, 'subscription', subscription_id, 'company', $3::text, 'attempt', 1, 'step', 1) FROM made`

// On SQLite two do, the second only if the first one made any.
const (
	liteDeliver = `INSERT INTO ` + columns + `
	SELECT 'whd_' || substr(?1, 5, 24) || substr('` + digits + `', 1 + n / 32, 1) || substr('` + digits + `', 1 + n % 32, 1),
		?2, ?2, ?3, s.id, ?1, ?4, 'PENDING', 0, ?2
	FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS n FROM webhook_subscriptions
		WHERE company_id = ?3 AND enabled = 1 AND EXISTS (SELECT 1 FROM json_each(events) WHERE value = ?4)) AS s`

	liteEnqueue = `INSERT INTO river_job (kind, queue, max_attempts, created_at, scheduled_at, args)
	SELECT '` + Kind + `', '` + Queue + `', ` + maxAttempts + `, datetime('now', 'subsec'), datetime('now', 'subsec'),
		jsonb(json_object('delivery', id, 'subscription', subscription_id, 'company', company_id, 'attempt', 1, 'step', 1))
	FROM webhook_deliveries WHERE company_id = ?1 AND event_id = ?2`
)

// deliver makes the deliveries of an event and their jobs.
func deliver(ctx context.Context, tx *store.Tx, eventID string, e Event) error {
	driver := ent.DriverOf(tx.Client)
	args := []any{eventID, e.At, e.CompanyID, e.Name}
	var made store.Later
	if tx.Dialect() == dialect.Postgres {
		if err := driver.Exec(ctx, pgDeliver, args, &made); err != nil {
			return err //nolint:wrapcheck // wrapped by Emit
		}
		tx.WakeQueueFor(Queue, &made)
		return nil
	}
	if err := driver.Exec(ctx, liteDeliver, args, &made); err != nil || made.Rows() == 0 {
		return err //nolint:wrapcheck // wrapped by Emit
	}
	tx.WakeQueue(Queue)
	return driver.Exec(ctx, liteEnqueue, []any{e.CompanyID, eventID}, nil) //nolint:wrapcheck // wrapped by Emit
}
