package store

import "sync"

// writeQueue holds the writes that wait for SQLite's one writer: in turn between companies, each company's in their order. However many
// a company has waiting, another one's next write has at most one of each company before it.
type writeQueue struct {
	mu     sync.Mutex
	of     map[string][]*write // by company; none is empty
	turns  []string            // the companies of of, whose turn comes first before
	size   int
	closed bool
	filled chan struct{} // has an element after a write was added
}

func newWriteQueue() *writeQueue {
	return &writeQueue{of: map[string][]*write{}, filled: make(chan struct{}, 1)}
}

// add queues a write. It returns ErrBusy when all places are taken, or when the company has half of them.
func (q *writeQueue) add(job *write) error {
	company := companyOf(job.ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.of[company]
	switch {
	case q.closed:
		return errClosed
	case q.size >= maxWaitingWrites, len(waiting) >= maxWaitingWrites/2:
		return ErrBusy
	case len(waiting) == 0:
		q.turns = append(q.turns, company)
	}
	q.of[company] = append(waiting, job)
	q.size++
	select {
	case q.filled <- struct{}{}:
	default:
	}
	return nil
}

// next takes the write whose turn it is, or returns nil when none waits.
func (q *writeQueue) next() *write {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size == 0 {
		return nil
	}
	company := q.turns[0]
	waiting := q.of[company]
	q.turns = q.turns[1:]
	if len(waiting) == 1 {
		delete(q.of, company)
	} else {
		q.of[company], q.turns = waiting[1:], append(q.turns, company)
	}
	q.size--
	return waiting[0]
}

func (q *writeQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size
}

// close refuses further writes.
func (q *writeQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}
