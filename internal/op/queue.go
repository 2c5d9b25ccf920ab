package op

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/store"
)

// Queue inserts jobs in transactions and completes them. Package jobs implements it, and tests do.
type Queue interface {
	InsertTx(ctx context.Context, tx *store.Tx, job river.JobArgs, at time.Time) error
	CompleteTx(ctx context.Context, tx *store.Tx, job *rivertype.JobRow) error
}

// Insert adds a job to the operation's transaction, whose jobs are inserted by one statement. It is due at that moment of the product's
// time (at once for the zero time).
func (tx *Tx) Insert(ctx context.Context, job river.JobArgs, at time.Time) error {
	if tx.engine.Queue == nil {
		return nil
	}
	return tx.engine.Queue.InsertTx(ctx, tx.db, job, at)
}

// Complete ends the job that this transaction works on, so that no crash can come between the work and its completion.
// ctx must derive from the context that River handed to the worker.
func (tx *Tx) Complete(ctx context.Context, job *rivertype.JobRow) error {
	return tx.engine.Queue.CompleteTx(ctx, tx.db, job)
}
