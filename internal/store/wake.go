package store

// Later is how many rows a statement affects, known at the commit: on PostgreSQL a statement whose result nobody waits
// for travels with the next one. Hand its address to the driver's Exec in place of a sql.Result.
type Later struct{ rows int64 }

// Rows returns how many rows the statement affected. Ask for it after the commit only.
func (l *Later) Rows() int64 { return l.rows }

// AfterCommit makes the store call fn once the transaction has committed, and not at all when it does not. fn must return
// at once: on SQLite the writer waits for it.
func (tx *Tx) AfterCommit(fn func()) { tx.after = append(tx.after, fn) }

// follow does what was put off until the commit.
func (tx *Tx) follow() {
	for _, fn := range tx.after {
		fn()
	}
}

// WakeQueue makes the workers of a job queue look for jobs once the transaction has committed, so that none of those it
// inserted waits until they look of their own accord.
func (tx *Tx) WakeQueue(queue string) {
	s := tx.store
	tx.AfterCommit(func() { s.WakeQueue(queue) })
}

// WakeQueueFor is WakeQueue unless the statement that made the jobs turns out to have made none.
func (tx *Tx) WakeQueueFor(queue string, made *Later) {
	s := tx.store
	tx.AfterCommit(func() {
		if made.Rows() > 0 {
			s.WakeQueue(queue)
		}
	})
}

// WakeQueue tells whoever listens in this process that a queue has a job that is due.
func (s *Store) WakeQueue(queue string) { s.wakers.each(func(fn func(string)) { fn(queue) }) }

// OnWake calls fn, which must return at once, whenever a queue of this database has a job that is due, until cancel is
// called.
func (s *Store) OnWake(fn func(queue string)) (cancel func()) { return s.wakers.add(fn) }
