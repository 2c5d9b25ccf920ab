package execution

import (
	"context"
	"sync"
	"time"

	"atrium/internal/platform/share"
)

const (
	callers      = 64 // calls that a node makes at once
	companyCalls = 32 // of one company
	callsWaiting = 8  // jobs of one company that wait for one of its places on a worker, so that a place is taken as soon as it is free

	waitForPlace = 2 * time.Second // longer waits are snoozes, which hold no worker
	wakeEvery    = 2 * time.Millisecond
	longestWait  = time.Minute
)

// calling shares the callers among companies, so that one whose receivers are slow leaves some to others.
type calling struct {
	places *share.Places

	mu      sync.Mutex
	waiting map[string]*waiting // by company
}

// waiting are the jobs of a company for which there was no place.
type waiting struct {
	here int       // on workers
	wake time.Time // when the one that snoozed last will come again
}

func newCalling() *calling {
	return &calling{places: share.New(callers, companyCalls), waiting: map[string]*waiting{}}
}

// enter takes a place for a call of a company, for which it may wait a moment. Without one it returns how long the job must snooze:
// the jobs of a company come again one after the other.
func (c *calling) enter(ctx context.Context, companyID string) (leave func(), snooze time.Duration) {
	if leave, ok := c.places.TakeNow(companyID); ok {
		return leave, 0
	}
	if c.wait(companyID) {
		until, cancel := context.WithTimeout(ctx, waitForPlace)
		leave, err := c.places.Take(until, companyID)
		cancel()
		c.waited(companyID)
		if err == nil {
			return leave, 0
		}
	}
	return nil, c.snooze(companyID, time.Now())
}

// wait reports whether a job may wait on its worker.
func (c *calling) wait(companyID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of(companyID)
	if w.here == callsWaiting {
		return false
	}
	w.here++
	return true
}

func (c *calling) waited(companyID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of(companyID).here--
}

func (c *calling) snooze(companyID string, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.of(companyID)
	if first := now.Add(stoppedWait); w.wake.Before(first) {
		w.wake = first
	}
	if last := now.Add(longestWait); w.wake.Before(last) {
		w.wake = w.wake.Add(wakeEvery)
	}
	for id, other := range c.waiting { // those that are of no use any more
		if other.here == 0 && other.wake.Before(now) {
			delete(c.waiting, id)
		}
	}
	return w.wake.Sub(now)
}

// of returns the waiting jobs of a company; the caller holds mu.
func (c *calling) of(companyID string) *waiting {
	w := c.waiting[companyID]
	if w == nil {
		w = &waiting{}
		c.waiting[companyID] = w
	}
	return w
}
