package op

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/store"
)

// Queue inserts jobs in transactions and completes them. Package jobs has the one that ships; op stands below it, and so
// names only what it needs.
type Queue interface {
	InsertTx(ctx context.Context, tx *store.Tx, job river.JobArgs, at time.Time) error
	CompleteTx(ctx context.Context, tx *store.Tx, job *rivertype.JobRow) error
}

// Insert adds a job to the operation's transaction, due at the moment of the product's time (at once for the zero time).
func (tx *Tx) Insert(ctx context.Context, job river.JobArgs, at time.Time) error {
	if tx.engine.Queue == nil {
		return nil
	}
	return tx.engine.Queue.InsertTx(ctx, tx.db, job, at)
}

// Complete ends the job that this transaction works, so that no crash comes between the two. ctx is derived from the one
// that River handed to the worker.
func (tx *Tx) Complete(ctx context.Context, job *rivertype.JobRow) error {
	return tx.engine.Queue.CompleteTx(ctx, tx.db, job)
}
