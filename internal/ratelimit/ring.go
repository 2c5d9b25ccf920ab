package ratelimit

import "sort"

// ring is a queue of instants, oldest first. The zero value is empty and holds no memory.
type ring struct {
	buf  []int64
	head int // index of the oldest
	n    int
}

const ringStart = 8 // slots of the first buffer: most keys never make more calls a minute

// at returns the i-th oldest instant, 0 ≤ i < n.
func (r *ring) at(i int) int64 { return r.buf[r.slot(i)] }

func (r *ring) slot(i int) int {
	if i += r.head; i >= len(r.buf) {
		i -= len(r.buf)
	}
	return i
}

// through returns how many instants are not after last.
func (r *ring) through(last int64) int {
	return sort.Search(r.n, func(i int) bool { return r.at(i) > last })
}

// drop removes the n oldest instants.
func (r *ring) drop(n int) {
	r.head = r.slot(n)
	r.n -= n
}

// push appends an instant. The buffer doubles when it is full, up to limit slots; the caller guarantees n < limit.
func (r *ring) push(at int64, limit int) {
	if r.n == len(r.buf) {
		grown := make([]int64, min(max(ringStart, 2*len(r.buf)), limit))
		for i := range r.n {
			grown[i] = r.at(i)
		}
		r.buf, r.head = grown, 0
	}
	r.buf[r.slot(r.n)] = at
	r.n++
}

// restamp sets every instant to at.
func (r *ring) restamp(at int64) {
	for i := range r.n {
		r.buf[r.slot(i)] = at
	}
}
