package op

import (
	"bytes"
	"context"
	"fmt"
	"time"

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
// with another body is idempotency_mismatch.
func (tx *Tx) firstAnswer(ctx context.Context) (*Answer, error) {
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
	return &Answer{Status: row.Status, Header: row.Header, Body: row.Body, Repeated: true}, nil
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
	err = tx.IdempotencyKey.Create().SetCallerID(tx.callerID()).SetKey(tx.call.IdempotencyKey).
		SetFingerprint(tx.call.Fingerprint[:]).SetStatus(answer.Status).SetHeader(answer.Header).SetBody(answer.Body).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the answer: %w", err)
	}
	return &answer, nil
}
