package op

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"time"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/idempotencykey"
	"atrium/internal/apperr"
)

// IdempotencyWindow is how long the first answer to a key is kept.
const IdempotencyWindow = 24 * time.Hour

// callerID is whose keys they are: two credentials never share one.
func (a *attempt) callerID() string {
	p := a.principal
	if p.KeyID != "" {
		return p.KeyID
	}
	return p.ID + "/" + p.ClientID
}

// firstAnswer returns the kept answer of the call's idempotency key, or nil when this is the first call. The same key
// with another body is idempotency_mismatch. The answer is for who could make the call now, and may still read what it is
// about: roles, scopes and policies are asked again.
func (o *Operation[In, Out]) firstAnswer(ctx context.Context, tx *Tx, in In) (*Answer, error) {
	row, err := tx.keptAnswer(ctx)
	if row == nil || err != nil {
		return nil, err
	}
	if _, onRow := any(in).(Target); !onRow {
		if !tx.decision.Allow {
			return nil, tx.denied()
		}
		if err := tx.mayBegin(ctx); err != nil {
			return nil, err
		}
	}
	if err := o.again(ctx, tx, in); err != nil {
		return nil, err
	}
	if err := tx.mayReadAgain(ctx, row); err != nil {
		return nil, err
	}
	return &Answer{Status: row.Status, Header: row.Header, Body: row.Body, Repeated: true}, nil
}

// mayReadAgain returns forbidden when the caller may not read any more what a kept answer is about.
func (tx *Tx) mayReadAgain(ctx context.Context, kept *ent.IdempotencyKey) error {
	if kept.RowID == "" || !authz.HasRows(kept.Resource) {
		return nil
	}
	entity, err := authz.Load(tx.Unfiltered(ctx, "whether a kept answer tells of a hidden row"), tx.Client, kept.Resource, kept.RowID)
	if ent.IsNotFound(err) {
		return tx.mayHaveGone(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("read what a kept answer is about: %w", err)
	}
	if kept.RowID != tx.target { // else its reach was asked for, as the operation loads the row
		d, err := tx.engine.Authz.Decide(ctx, tx.principal, authz.Question{Verb: verbOf(tx.info.Name, Read)})
		if err != nil {
			return undecided(err)
		}
		_, isOwned := reflect.Indirect(reflect.ValueOf(entity)).Type().FieldByName("CreatedBy")
		if d.Allow && d.Rows == authz.RowsOwn && isOwned && !Reaches(d.Rows, entity, tx.principal.ID) {
			d.Allow = false
			tx.decision = d
			return tx.denied()
		}
	}
	return tx.MayRead(ctx, entity)
}

// mayHaveGone reports whether a kept answer about a row that is gone is given: that of the call that deleted it, and any other
// where nothing would hide the row if it were there. Else it returns err.
func (tx *Tx) mayHaveGone(_ context.Context, err error) error {
	if tx.info.Action == Delete || tx.decision.Rows == authz.RowsAll && !tx.Narrowed(tx.info.Resource) {
		return nil
	}
	return err
}

// keptAnswer reads the row that is kept for the call's idempotency key; nil for a first call.
func (tx *Tx) keptAnswer(ctx context.Context) (*ent.IdempotencyKey, error) {
	if tx.call == nil || tx.call.IdempotencyKey == "" {
		return nil, nil // no answer is kept
	}
	row, err := tx.IdempotencyKey.Query().
		Where(idempotencykey.CallerID(tx.callerID()), idempotencykey.Key(tx.call.IdempotencyKey)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil // the first call
	}
	if err != nil {
		return nil, fmt.Errorf("look the idempotency key up: %w", err)
	}
	if tx.Now(ctx).Sub(row.CreatedAt) >= IdempotencyWindow {
		if err := tx.IdempotencyKey.DeleteOne(row).Exec(ctx); err != nil {
			return nil, fmt.Errorf("forget the idempotency key: %w", err)
		}
		return nil, nil // the window is over: a first call again
	}
	if !bytes.Equal(row.Fingerprint, tx.call.Fingerprint[:]) {
		return nil, apperr.New(apperr.IdempotencyMismatch, "The idempotency key was used with another request.")
	}
	return row, nil
}

// keepAnswer renders the answer to out and writes it in the transaction that made it true: kept afterwards, it would be
// lost in a crash, and the next call with the key would have a second effect. Rendering a request takes 5 µs of the time
// in which SQLite's only writer is held, of about 150 µs (2 cores, 2026-11). Keeping the row to render it later instead
// would encode it all the same, and would need a decoder for every answer.
func (tx *Tx) keepAnswer(ctx context.Context, out any) (*Answer, error) {
	if tx.call == nil || tx.call.IdempotencyKey == "" {
		return nil, nil // nothing to keep
	}
	answer, err := tx.call.Render(out)
	if err != nil {
		return nil, fmt.Errorf("render the answer: %w", err)
	}
	resource, id := tx.answered(out)
	err = tx.IdempotencyKey.Create().SetResource(resource).SetRowID(id).SetCallerID(tx.callerID()).SetKey(tx.call.IdempotencyKey).
		SetFingerprint(tx.call.Fingerprint[:]).SetStatus(answer.Status).SetHeader(answer.Header).SetBody(answer.Body).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the answer: %w", err)
	}
	return &answer, nil
}

// answered names the row that an answer is about.
func (tx *Tx) answered(out any) (resource, id string) {
	for _, row := range []any{out, tx.after} {
		if name, id, ok := authz.EntityOf(row); ok {
			return name, id
		}
	}
	if id := idOf(out); id != "" {
		return tx.info.Resource, id
	}
	return "", ""
}
