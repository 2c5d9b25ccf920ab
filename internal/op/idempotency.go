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
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// IdempotencyWindow is how long the first answer to a key is stored.
const IdempotencyWindow = 24 * time.Hour

// callerID identifies the owner of an idempotency key. Two credentials never share a key.
func (a *attempt) callerID() string {
	p := a.principal
	if p.KeyID != "" {
		return p.KeyID
	}
	return p.ID + "/" + p.ClientID
}

// firstAnswer returns the stored answer for the call's idempotency key, or nil when this is the first call. The same key with
// another body is idempotency_mismatch. A caller gets the answer only if it could make the call now and may still read the row
// that the answer is about: roles, scopes and policies are asked again.
func (o *Operation[In, Out]) firstAnswer(ctx context.Context, tx *Tx, in In) (*Answer, error) {
	row, err := tx.storedAnswer(ctx)
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

// mayReadAgain returns forbidden when the caller may no longer read the row that a stored answer is about, or create it.
func (tx *Tx) mayReadAgain(ctx context.Context, stored *ent.IdempotencyKey) error {
	if stored.RowID == "" || !authz.HasRows(stored.Resource) {
		return nil
	}
	entity, err := authz.Load(tx.Unfiltered(ctx, "whether a kept answer tells of a hidden row"), tx.Client, stored.Resource, stored.RowID)
	if ent.IsNotFound(err) {
		return tx.answerOfDeleted(err)
	}
	if err != nil {
		return fmt.Errorf("read what a kept answer is about: %w", err)
	}
	if stored.RowID != tx.target { // for the target, the reach was checked when the operation loaded the row
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
	if tx.set != nil && tx.info.Action == Create && stored.Resource == tx.info.Resource {
		if err := tx.askOf(ctx, Create, entity); err != nil {
			return err
		}
	}
	return tx.MayRead(ctx, entity)
}

// answerOfDeleted decides whether a stored answer is returned although its row was deleted. It is (nil) for the call that deleted
// the row, and for any other call if neither role nor policies could have hidden the row. Otherwise answerOfDeleted returns err.
func (tx *Tx) answerOfDeleted(err error) error {
	if tx.info.Action == Delete || tx.decision.Rows == authz.RowsAll && !tx.Narrowed(tx.info.Resource) {
		return nil
	}
	return err
}

// storedAnswer reads the stored answer for the call's idempotency key; nil for a first call.
func (tx *Tx) storedAnswer(ctx context.Context) (*ent.IdempotencyKey, error) {
	if tx.call == nil || tx.call.IdempotencyKey == "" {
		return nil, nil // no answer is stored
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
		if tx.db == nil {
			return nil, nil // of a preparation; the transaction forgets it
		}
		if err := tx.IdempotencyKey.DeleteOne(row).Exec(ctx); err != nil {
			return nil, fmt.Errorf("forget the idempotency key: %w", err)
		}
		return nil, nil // the window is over: this counts as a first call
	}
	if !bytes.Equal(row.Fingerprint, tx.call.Fingerprint[:]) {
		return nil, apperr.New(apperr.IdempotencyMismatch, "The idempotency key was used with another request.")
	}
	switch {
	case row.ID == tx.reserved:
		return nil, nil // by this call
	case row.Status == unanswered:
		return nil, apperr.New(apperr.Conflict, "A call with this idempotency key has begun, and its answer is not known. It is not made again.")
	}
	return row, nil
}

// unanswered is the status of a key that is reserved for a call to another server.
const unanswered = 0

// reserveKey reserves the call's idempotency key before another server is called. A crash leaves it reserved for IdempotencyWindow, since
// nobody knows what the other server has done.
func (tx *Tx) reserveKey(ctx context.Context) error {
	if tx.call == nil || tx.call.IdempotencyKey == "" {
		return nil
	}
	return tx.engine.Store.Write(ctx, func(ctx context.Context, db *store.Tx) error {
		first, err := (&Tx{Client: db.Client, attempt: tx.attempt, db: db}).storedAnswer(ctx) // forgets one whose window is over
		if err != nil {
			return err
		}
		if first != nil {
			return apperr.New(apperr.Conflict, "A call with this idempotency key has just been answered.") // write looks again
		}
		row, err := db.IdempotencyKey.Create().SetCallerID(tx.callerID()).SetKey(tx.call.IdempotencyKey).SetFingerprint(tx.call.Fingerprint[:]).
			SetStatus(unanswered).SetBody([]byte{}).Save(ctx)
		if err != nil {
			return fmt.Errorf("reserve the idempotency key: %w", err)
		}
		tx.reserved = row.ID
		return nil
	})
}

// releaseKey gives the key of a call that failed back, so that it can be used again.
func (a *attempt) releaseKey(ctx context.Context) {
	if a.reserved == "" {
		return
	}
	ctx, cancel := context.WithTimeout(principal.With(context.WithoutCancel(ctx), a.principal), prepareTimeout)
	defer cancel()
	err := a.engine.Store.Write(ctx, func(ctx context.Context, db *store.Tx) error {
		return db.IdempotencyKey.DeleteOneID(a.reserved).Exec(ctx)
	})
	if err != nil {
		a.engine.Log.ErrorContext(ctx, "an idempotency key stays reserved until its window is over", "error", err)
	}
}

// storeAnswer renders the answer to out and stores it in the operation's own transaction. Stored after the commit, it could be
// lost in a crash, and the next call with the key would have a second effect. Rendering a request takes 5 µs of the roughly
// 150 µs for which a call holds SQLite's only writer (2 cores, 2026-11). Storing the row and rendering it later would encode
// it anyway, and would need a decoder for every answer.
func (tx *Tx) storeAnswer(ctx context.Context, out any) (*Answer, error) {
	if tx.call == nil || tx.call.IdempotencyKey == "" {
		return nil, nil // nothing to store
	}
	answer, err := tx.call.Render(out)
	if err != nil {
		return nil, fmt.Errorf("render the answer: %w", err)
	}
	resource, id := tx.answered(out)
	if tx.reserved != "" {
		if err := tx.IdempotencyKey.DeleteOneID(tx.reserved).Exec(ctx); err != nil {
			return nil, fmt.Errorf("replace the reserved key: %w", err)
		}
	}
	err = tx.IdempotencyKey.Create().SetResource(resource).SetRowID(id).SetCallerID(tx.callerID()).SetKey(tx.call.IdempotencyKey).
		SetFingerprint(tx.call.Fingerprint[:]).SetStatus(answer.Status).SetHeader(answer.Header).SetBody(answer.Body).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the answer: %w", err)
	}
	return &answer, nil
}

// answered returns the row that an answer is about; empty for none.
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
