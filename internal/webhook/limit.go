package webhook

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	slots         = 2048            // jobs that a node holds at once; nearly all of them may be waiting for slow receivers
	perReceiver   = 16              // attempts under way for one receiver on one node
	perSlow       = 2               // the same for one that does not answer, once such receivers hold half of the slots
	maxWait       = 5 * time.Second // for a place; an answer that takes longer is slow
	maxHeld       = slots * 3 / 4   // attempts and jobs that wait for a place, for all receivers together
	minSnooze     = time.Second
	maxSnooze     = time.Minute
	averagedCalls = 5
)

// limits bound the attempts that are under way for each receiver, so that a slow receiver delays its own deliveries only. A job
// that finds the limit of its receiver reached waits if the average duration of its attempts says that a place will be free
// within maxWait. Otherwise it snoozes, and holds no worker meanwhile.
type limits struct {
	mu      sync.Mutex
	byID    map[string]*receiver
	busy    int // attempts under way, for all receivers together
	waiting int // jobs that wait for a place, for all receivers together
}

// receiver is a subscription that jobs are at. It is forgotten with the last of them.
type receiver struct {
	places  *semaphore.Weighted
	jobs    int
	busy    int
	waiting int
	held    time.Duration // for how long an attempt holds its place, on average
	moved   time.Time     // when a place was given back last, or taken while all were free
	turn    time.Time     // when the job that snoozed last has its turn
}

func newLimits() *limits { return &limits{byID: map[string]*receiver{}} }

// enter takes a place for an attempt at a receiver, which is given back by leave. Without a place it returns how long the job
// shall snooze.
func (l *limits) enter(ctx context.Context, id string) (leave func(called bool), snooze time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.byID[id]
	if r == nil {
		r = &receiver{places: semaphore.NewWeighted(perReceiver), moved: time.Now()}
		l.byID[id] = r
	}
	r.jobs++
	crowded := l.busy >= slots/2 && r.busy >= perSlow && r.holds(time.Now()) > maxWait
	if crowded || !r.places.TryAcquire(1) && !l.wait(ctx, r) {
		defer l.forget(id, r)
		return nil, r.snooze(time.Now())
	}
	r.busy++
	l.busy++
	began := time.Now()
	return func(called bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.moved = time.Now()
		if called {
			r.learn(r.moved.Sub(began))
		}
		r.busy--
		l.busy--
		r.places.Release(1)
		l.forget(id, r)
	}, 0
}

// wait waits for a place where one is expected soon. The caller holds mu, which is free meanwhile.
func (l *limits) wait(ctx context.Context, r *receiver) bool {
	now := time.Now()
	if r.holds(now) > maxWait || time.Duration(r.waiting+1)*r.apart(now) > maxWait || l.busy+l.waiting >= maxHeld {
		return false
	}
	r.waiting++
	l.waiting++
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*maxWait) // it was expected to take half of that at most
	defer cancel()
	err := r.places.Acquire(ctx, 1)
	l.mu.Lock()
	r.waiting--
	l.waiting--
	return err == nil
}

// holds is for how long an attempt holds its place: as before, or as long as no place has come back by now.
func (r *receiver) holds(now time.Time) time.Duration { return max(r.held, now.Sub(r.moved)) }

// apart is how long it takes on average until a place is free.
func (r *receiver) apart(now time.Time) time.Duration { return r.holds(now) / perReceiver }

// snooze returns how long a job snoozes. The jobs of a receiver wake one after the other, as far apart as places become free on
// average, and none snoozes for more than a minute, in case the receiver recovers.
func (r *receiver) snooze(now time.Time) time.Duration {
	if earliest := now.Add(minSnooze); r.turn.Before(earliest) {
		r.turn = earliest
	}
	r.turn = r.turn.Add(r.apart(now))
	if last := now.Add(maxSnooze); r.turn.After(last) {
		r.turn = last
	}
	return r.turn.Sub(now)
}

// learn takes an attempt into account. One that was much quicker than expected voids what was expected.
func (r *receiver) learn(held time.Duration) {
	if r.held == 0 || held < r.held/averagedCalls {
		r.held, r.turn = held, time.Time{}
		return
	}
	r.held += (held - r.held) / averagedCalls
}

// forget drops a receiver that no job is at any more; the caller holds mu.
func (l *limits) forget(id string, r *receiver) {
	if r.jobs--; r.jobs == 0 {
		delete(l.byID, id)
	}
}

// underway returns how many attempts are.
func (l *limits) underway() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}
