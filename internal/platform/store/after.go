package store

// AfterCommit registers fn to be called once the transaction has committed; fn is not called if it does not commit. fn must
// return at once: on SQLite the writer waits for it.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// runAfterCommit calls the functions registered by AfterCommit.
func (tx *Tx) runAfterCommit() {
	for _, fn := range tx.after {
		fn()
	}
}
