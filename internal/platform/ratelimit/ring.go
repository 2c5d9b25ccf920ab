package ratelimit

import "sort"

// ring is a queue of times in microseconds, oldest first. The zero value is empty and takes no memory.
type ring struct {
	buf  []int64
	head int // index of the oldest time
	n    int
}

const ringStart = 8 // slots of the first buffer: most keys never make more calls in a minute

// at returns the i-th oldest time, 0 ≤ i < n.
func (r *ring) at(i int) int64 { return r.buf[r.slot(i)] }

func (r *ring) slot(i int) int {
	if i += r.head; i >= len(r.buf) {
		i -= len(r.buf)
	}
	return i
}

// through returns the number of times that are not after last.
func (r *ring) through(last int64) int {
	return sort.Search(r.n, func(i int) bool { return r.at(i) > last })
}

// drop removes the n oldest times.
func (r *ring) drop(n int) {
	r.head = r.slot(n)
	r.n -= n
}

// push appends a time. The buffer doubles when it is full, up to limit slots. The caller guarantees n < limit.
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

// restamp sets every time to at.
func (r *ring) restamp(at int64) {
	for i := range r.n {
		r.buf[r.slot(i)] = at
	}
}
