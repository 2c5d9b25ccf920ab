package store

// AfterCommit makes the store call fn once the transaction has committed, and not at all when it does not. fn must return
// at once: on SQLite the writer waits for it.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// follow does what was put off until the commit.
func (tx *Tx) follow() {
	for _, fn := range tx.after {
		fn()
	}
}
