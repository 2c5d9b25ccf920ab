package feed

import (
	"context"
	"time"
)

// pace says how often a poller looks, how far back, and how many rows it reads.
type pace struct {
	every time.Duration // between two looks when nothing wakes the poller
	gap   time.Duration // between two looks at least, however often this process commits
	near  time.Duration // how far a look goes back before the last one
	sweep time.Duration // between two looks that go back by the window
	away  time.Duration // after this long without an answer from the database, all subscriptions end

	// window is how late a change may become visible: the time from its id or time column to the end of its commit, plus how
	// far the clock of its node may be behind.
	window time.Duration

	page       int // rows per statement
	pages      int // statements per look
	remembered int // changes within the window that can be remembered
	buffer     int // pending rows that a subscription can hold
}

// usual is the pace of a server.
var usual = pace{
	every: 250 * time.Millisecond, gap: 20 * time.Millisecond, near: 100 * time.Millisecond,
	sweep: 2 * time.Second, away: 30 * time.Second, window: 10 * time.Second,
	page: 1000, pages: 100, remembered: 200_000, buffer: 1000,
}

// statementTimeout bounds one statement of a look.
const statementTimeout = 5 * time.Second

// track is the state of a poller's reading. Only the poller's goroutine uses it.
type track struct {
	pace
	seen    seen
	marks   []mark    // of sweeps, the oldest first
	looked  time.Time // when the last successful look began, by the clock of the kind
	swept   time.Time // when the last sweep began
	sound   time.Time // when the last successful look began
	failing bool      // the last look failed
}

// mark pairs the times of two clocks, because the clock that a kind is ordered by may jump while the machine's does not, and
// the reverse.
type mark struct {
	at    time.Time // monotonic
	clock time.Time // of the kind
}

// newTrack returns the state of a poller that begins at now, when the clock of the kind shows clock.
func newTrack(p pace, now, clock time.Time) *track {
	return &track{pace: p, sound: now, seen: seen{turned: now}, marks: []mark{{now.Add(-p.window), clock.Add(-p.window)}}}
}

// next returns the position after which a look at now begins, and whether the look is a sweep. A sweep goes back by the window
// before the last successful look. joining says that new watchers wait for this look, which makes it a sweep.
func (t *track) next(now time.Time, joining bool) (from position, sweep bool) {
	if joining || t.failing || now.Sub(t.swept) >= t.sweep {
		return position{at: t.marks[0].clock}, true
	}
	return position{at: t.looked.Add(-t.near)}, false
}

// answered records that a look that began at now has succeeded.
func (t *track) answered(sweep bool, now, clock time.Time) {
	t.sound, t.looked, t.failing = now, clock, false
	if !sweep {
		return
	}
	t.swept = now
	t.seen.swept(now, t.window)
	t.marks = append(t.marks, mark{now, clock})
	for len(t.marks) > 1 && now.Sub(t.marks[1].at) >= t.window {
		t.marks = t.marks[1:]
	}
}

// rest waits until the next look: every after the last one, or gap after something wakes the poller. After a failed look it
// does not wake early.
func (t *track) rest(ctx context.Context, wake <-chan struct{}) {
	ended := time.Now()
	timer := time.NewTimer(t.every)
	defer timer.Stop()
	if t.failing {
		wake = nil
	}
	select {
	case <-ctx.Done():
		return
	case <-timer.C:
		return
	case <-wake:
	}
	timer.Reset(t.gap - time.Since(ended))
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
