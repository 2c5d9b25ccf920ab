package webhook

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	slots        = 2048 // jobs that a node holds at once; nearly all of them may be waiting for slow receivers
	laneWidth    = 16   // attempts under way for one subscription on one node, their recording included
	firstWidth   = 2    // the same to a receiver that has not answered yet, or whose last answer took long or did not come
	slow         = 5 * time.Second
	brisk        = 250 * time.Millisecond // an answer up to which it pays to wait for a place
	maxWait      = 5 * time.Second        // for one
	maxQueued    = slots / 4              // jobs that wait for a place, in all lanes
	minPark      = 500 * time.Millisecond // of a job that is put back
	maxPark      = time.Minute
	maxParks     = 256    // jobs that are put back in one transaction
	maxIdleLanes = 10_000 // that are remembered
)

// lanes keep one subscription from being in the way of the others: each has a lane of so many places. A job that finds
// none free waits for a moment if the receiver answers quickly; otherwise it is put back into the queue until about when
// its turn comes, and holds no slot meanwhile. As the slots of the node fill up the lanes grow narrower, so that many
// slow receivers at once leave room for the quick ones.
//
// A lane begins narrow and grows by a place with every answer, as TCP begins: a call that hangs costs a connection of its
// own, with a handshake, which is most of the work that hanging receivers cause. One that hangs from the beginning is
// known by its first two calls, before they time out.
type lanes struct {
	mu     sync.Mutex
	byID   map[string]*lane
	busy   int // calls under way, all lanes together
	queued int // jobs that wait for a place, all lanes together
}

type lane struct {
	open    int // places that the receiver's answers have earned it
	busy    int
	queue   []chan struct{} // who waits for a place, the first one first; closed when it is theirs
	average time.Duration   // for which the last places were taken, recording included
	answer  time.Duration   // that the receiver took the last times, on average
	slow    bool
	moved   time.Time // when a place was given back last, or taken while all were free
	turn    time.Time // when the job that was put back last has its turn
}

func newLanes() *lanes { return &lanes{byID: map[string]*lane{}} }

// width is how many calls a lane may have under way.
func (l *lanes) width(of *lane) int {
	switch {
	case l.busy >= slots*3/4:
		return 1
	case l.busy >= slots/2:
		return min(of.open, firstWidth)
	case l.busy >= slots/4:
		return min(of.open, laneWidth/2)
	}
	return of.open
}

// enter takes a place in a subscription's lane. Without one it returns how long the job shall be put back for. Call leave
// after a place was taken.
func (l *lanes) enter(ctx context.Context, subscription string, now time.Time) (park time.Duration, ok bool) {
	l.mu.Lock()
	of := l.byID[subscription]
	if of == nil {
		l.forget()
		of = &lane{open: firstWidth}
		l.byID[subscription] = of
	}
	if of.busy < l.width(of) && len(of.queue) == 0 {
		if of.busy == 0 {
			of.moved = now
		}
		of.busy++
		l.busy++
		l.mu.Unlock()
		return 0, true
	}
	if of.slow || of.hangs(now) || of.answer > brisk || time.Duration(len(of.queue))*of.apart(l, now) > maxWait || l.queued >= maxQueued {
		defer l.mu.Unlock()
		return l.park(of, now), false
	}
	turn := make(chan struct{})
	of.queue = append(of.queue, turn)
	l.queued++
	l.mu.Unlock()
	return l.wait(ctx, of, turn)
}

// hangs tells whether no place has come back for so long that the receiver must be the reason. Of one that is known to
// answer it is believed only after long: it may be this node that is slow, and putting jobs back would make it slower.
func (of *lane) hangs(now time.Time) bool {
	still := now.Sub(of.moved)
	return still > slow || of.average == 0 && still > brisk
}

// apart is how long it takes on average until a place in the lane is free: as it took before, or as it has by now.
func (of *lane) apart(l *lanes, now time.Time) time.Duration {
	held := max(of.average, time.Millisecond)
	if of.hangs(now) {
		held = max(held, now.Sub(of.moved))
	}
	return held / time.Duration(l.width(of))
}

// wait waits for a place, not for long.
func (l *lanes) wait(ctx context.Context, of *lane, turn chan struct{}) (time.Duration, bool) {
	late := time.NewTimer(2 * maxWait) // it was expected to take half of that at most
	defer late.Stop()
	select {
	case <-turn:
		return 0, true
	case <-late.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range of.queue {
		if other == turn {
			of.queue = append(of.queue[:i], of.queue[i+1:]...)
			l.queued--
			return l.park(of, time.Now()), false
		}
	}
	return 0, true // the place came at the same moment
}

// park returns how long a job is put back for: the jobs of a lane get their turns one after the other, as far apart as
// the receiver's answers let expect. Nobody is put back for longer than a minute, in case the receiver recovers.
func (l *lanes) park(of *lane, now time.Time) time.Duration {
	if earliest := now.Add(minPark); of.turn.Before(earliest) {
		of.turn = earliest
	}
	of.turn = of.turn.Add(of.apart(l, now))
	if wait := of.turn.Sub(now); wait < maxPark {
		return wait
	}
	of.turn = now.Add(maxPark)
	return maxPark/2 + rand.N(maxPark/2)
}

// leave gives a place back that was held for so long to whoever waits for it. called is how long the receiver took,
// negative when it was not called.
func (l *lanes) leave(subscription string, held, called time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.byID[subscription]
	if called >= 0 {
		of.learn(held, called)
	}
	of.moved = time.Now()
	of.busy--
	l.busy--
	for len(of.queue) > 0 && of.busy < l.width(of) {
		close(of.queue[0])
		of.queue = of.queue[1:]
		l.queued--
		of.busy++
		l.busy++
	}
}

// learn takes a call into account.
func (of *lane) learn(held, called time.Duration) {
	late := called >= slow
	if of.average == 0 || of.slow && !late {
		of.average, of.answer, of.turn = held, called, time.Time{} // the first one, or it has recovered: what was thought of it is void
	}
	of.average += (held - of.average) / 5
	of.answer += (called - of.answer) / 5
	if of.slow = late; late {
		of.open = firstWidth
	} else {
		of.open = min(of.open+1, laneWidth)
	}
}

// forget drops lanes that nobody is in when there are very many.
func (l *lanes) forget() {
	if len(l.byID) < maxIdleLanes {
		return
	}
	for id, of := range l.byID {
		if of.busy == 0 && len(of.queue) == 0 {
			delete(l.byID, id)
		}
	}
}

// underway returns how many calls there are.
func (l *lanes) underway() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy
}
