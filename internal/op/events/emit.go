package events

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/internal/platform/store"
)

// Event is something that happened.
type Event struct {
	Name      string // one of All, for events that webhooks deliver
	SubjectID string // the row that it is about
	At        time.Time
	Data      any // the payload's data
	Cause     Cause
}

// Cause is what an event is part of. Subscribers learn it; it is not stored.
type Cause struct {
	Execution  string    // the execution whose own step it is; empty for none
	MailAt     time.Time // when people are mailed of it, in one mail with all else of one change; zero for at once
	NoWorkflow bool      // the offering of the request that is filed has none, as its operation has read
}

type gatheredKey struct{}

// Gathered returns the context of one change of many rows: people are mailed of all that it causes at one moment, in one mail.
func Gathered(ctx context.Context, mailAt time.Time) context.Context {
	return context.WithValue(ctx, gatheredKey{}, mailAt)
}

// MailAt returns when people are mailed of what a change causes, if it is one of many rows (Gathered); zero for at once.
func MailAt(ctx context.Context) time.Time {
	at, _ := ctx.Value(gatheredKey{}).(time.Time)
	return at
}

// Emitted is an event as subscribers receive it.
type Emitted struct {
	*ent.Event
	Cause Cause
}

// Subscriber is called with every event, in its transaction. ctx can access all rows of the event's company, including those
// that access policies hide from the caller. A Subscriber runs within every operation that emits, so it leaves slow work to a
// job.
type Subscriber func(ctx context.Context, tx *store.Tx, e Emitted) error

// Subscribers are all subscribers, in the order in which they are called.
type Subscribers []Subscriber

// Emit writes the event into the company of the context's principal and calls the subscribers.
func (s Subscribers) Emit(ctx context.Context, tx *store.Tx, e Event) error {
	row, err := Record(ctx, tx.Client, e)
	if err != nil {
		return err
	}
	if e.Cause.MailAt.IsZero() {
		e.Cause.MailAt = MailAt(ctx)
	}
	for _, told := range s {
		if err := told(ctx, tx, Emitted{row, e.Cause}); err != nil {
			return fmt.Errorf("tell a subscriber of %s: %w", e.Name, err)
		}
	}
	return nil
}

// Record writes the event without calling subscribers.
func Record(ctx context.Context, db *ent.Client, e Event) (*ent.Event, error) {
	payload, err := Payload(e.Name, e.At, e.Data)
	if err != nil {
		return nil, err
	}
	row, err := db.Event.Create().SetCreatedAt(e.At).SetType(e.Name).SetSubjectID(e.SubjectID).SetPayload(payload).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("write the event: %w", err)
	}
	return row, nil
}
