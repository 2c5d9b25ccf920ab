package webhook

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	slots         = 2048            // jobs that a node works at once; nearly all of them may be waiting for slow receivers
	perCompany    = slots / 4       // attempts and jobs that wait for a place, for all receivers of one company on one node
	perReceiver   = 16              // attempts under way for one receiver on one node
	perSlow       = 2               // the same for a receiver that does not answer within maxWait, once attempts hold half of the slots
	maxWait       = 5 * time.Second // for a free place; an attempt that takes longer is slow
	maxHeld       = slots * 3 / 4   // attempts and jobs that wait for a place, for all receivers together
	minSnooze     = time.Second
	maxSnooze     = time.Minute
	averagedCalls = 5
)

// limits bound the attempts that are under way for each receiver, so that a slow receiver delays only its own deliveries, and for each
// company, so that many slow receivers of one delay only its deliveries. A job that finds its receiver's limit reached waits if a place
// will be free within maxWait, judged by the average duration of the receiver's attempts. Otherwise it snoozes, and holds no worker
// meanwhile.
type limits struct {
	mu        sync.Mutex
	byID      map[string]*receiver
	companies map[string]int // jobs at the receivers of each company
	busy      int            // attempts under way, for all receivers together
	waiting   int            // jobs that wait for a place, for all receivers together
}

// receiver is the state of a subscription that has jobs on this node. It is dropped with the last of them.
type receiver struct {
	places       *semaphore.Weighted
	jobs         int
	busy         int
	waiting      int
	avgDuration  time.Duration // how long an attempt holds its place, on average
	lastReleased time.Time     // when a place was last given back; at first, when the receiver was added
	nextWake     time.Time     // when the job that snoozed last will wake
}

func newLimits() *limits { return &limits{byID: map[string]*receiver{}, companies: map[string]int{}} }

// enter takes a place for an attempt at a receiver of a company; leave gives it back. Without a free place it returns how long the job
// must snooze.
func (l *limits) enter(ctx context.Context, company, id string) (leave func(called bool), snooze time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.byID[id]
	if r == nil {
		r = &receiver{places: semaphore.NewWeighted(perReceiver), lastReleased: time.Now()}
		l.byID[id] = r
	}
	r.jobs++
	l.companies[company]++
	full := l.companies[company] > perCompany
	crowded := l.busy >= slots/2 && r.busy >= perSlow && r.slotDuration(time.Now()) > maxWait
	if full || crowded || !r.places.TryAcquire(1) && !l.wait(ctx, r) {
		defer l.forget(company, id, r)
		return nil, r.snooze(time.Now())
	}
	r.busy++
	l.busy++
	began := time.Now()
	return func(called bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.lastReleased = time.Now()
		if called {
			r.addSample(r.lastReleased.Sub(began))
		}
		r.busy--
		l.busy--
		r.places.Release(1)
		l.forget(company, id, r)
	}, 0
}

// wait waits for a place if one is expected soon. The caller holds mu, which wait releases while it waits.
func (l *limits) wait(ctx context.Context, r *receiver) bool {
	now := time.Now()
	if r.slotDuration(now) > maxWait || time.Duration(r.waiting+1)*r.releaseInterval(now) > maxWait || l.busy+l.waiting >= maxHeld {
		return false
	}
	r.waiting++
	l.waiting++
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*maxWait) // twice the longest wait that is expected
	defer cancel()
	err := r.places.Acquire(ctx, 1)
	l.mu.Lock()
	r.waiting--
	l.waiting--
	return err == nil
}

// slotDuration returns how long an attempt holds its place: the average so far, or the time since a place was last given back if that is
// longer.
func (r *receiver) slotDuration(now time.Time) time.Duration {
	return max(r.avgDuration, now.Sub(r.lastReleased))
}

// releaseInterval returns the average time until the next place is free.
func (r *receiver) releaseInterval(now time.Time) time.Duration {
	return r.slotDuration(now) / perReceiver
}

// snooze returns how long a job snoozes. The jobs of a receiver wake one after the other, at the average rate at which places
// become free. None snoozes for more than a minute, in case the receiver recovers.
func (r *receiver) snooze(now time.Time) time.Duration {
	if earliest := now.Add(minSnooze); r.nextWake.Before(earliest) {
		r.nextWake = earliest
	}
	r.nextWake = r.nextWake.Add(r.releaseInterval(now))
	if last := now.Add(maxSnooze); r.nextWake.After(last) {
		r.nextWake = last
	}
	return r.nextWake.Sub(now)
}

// addSample adds an attempt to the average. An attempt that took less than a fifth of the average replaces it.
func (r *receiver) addSample(held time.Duration) {
	if r.avgDuration == 0 || held < r.avgDuration/averagedCalls {
		r.avgDuration, r.nextWake = held, time.Time{}
		return
	}
	r.avgDuration += (held - r.avgDuration) / averagedCalls
}

// forget removes a job from its receiver and its company, and drops each with its last job; the caller holds mu.
func (l *limits) forget(company, id string, r *receiver) {
	if l.companies[company]--; l.companies[company] == 0 {
		delete(l.companies, company)
	}
	if r.jobs--; r.jobs == 0 {
		delete(l.byID, id)
	}
}

// underway returns how many attempts are under way.
func (l *limits) underway() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}
