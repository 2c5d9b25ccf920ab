package store

import "context"

// Gather returns what the transaction gathers under a key. The first call makes it, and a function that is called once before the commit.
func (tx *Tx) Gather(key any, begin func() (gathered any, last func(context.Context) error)) any {
	if tx.gathered == nil {
		tx.gathered = map[any]any{}
	}
	if _, ok := tx.gathered[key]; !ok {
		gathered, last := begin()
		tx.gathered[key] = gathered
		tx.before = append(tx.before, last)
	}
	return tx.gathered[key]
}

// runBeforeCommit calls the functions registered by Gather.
func (tx *Tx) runBeforeCommit(ctx context.Context) error {
	for _, fn := range tx.before {
		if err := fn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// AfterCommit registers fn to be called once the transaction has committed; fn is not called if it does not commit. fn must
// return at once: on SQLite the writer waits for it.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// runAfterCommit calls the functions registered by AfterCommit.
func (tx *Tx) runAfterCommit() {
	for _, fn := range tx.after {
		fn()
	}
}
