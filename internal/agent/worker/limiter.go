package worker

import (
	"sync"
	"time"
)

const maxCallsPerCompany = 4 // concurrent calls of one company on each node

// BusySnooze is the snooze of a job that finds no free place.
const BusySnooze = time.Second

// Limiter counts the concurrent calls of each company on this node.
type Limiter struct {
	mu sync.Mutex
	n  map[string]int
}

// Enter takes one of a company's places; false if none is free.
func (b *Limiter) Enter(company string) (leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == nil {
		b.n = map[string]int{}
	}
	if b.n[company] >= maxCallsPerCompany {
		return nil, false
	}
	b.n[company]++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.n[company]--; b.n[company] == 0 {
			delete(b.n, company)
		}
	}, true
}
