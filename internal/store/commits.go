package store

// OnCommit calls fn, which must return at once, whenever this process has committed a transaction, until cancel is called.
// What other processes commit is not heard.
func (s *Store) OnCommit(fn func()) (cancel func()) { return s.commits.add(fn) }

// committed tells whoever listens for commits.
func (s *Store) committed() { s.commits.each(func(fn func()) { fn() }) }
