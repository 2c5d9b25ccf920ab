package agent

import (
	"sync"
	"time"
)

const (
	maxCallsPerCompany = 4           // concurrent calls of one company on each node
	busySnooze         = time.Second // snooze of a job that finds no free place
)

// companyLimiter counts the concurrent calls of each company on this node.
type companyLimiter struct {
	mu sync.Mutex
	n  map[string]int
}

// enter takes one of a company's places; false if none is free.
func (b *companyLimiter) enter(company string) (leave func(), ok bool) {
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
