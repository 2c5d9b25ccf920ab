package feed

import (
	"context"
	"time"
)

// pace is how often a poller looks, how far back, and how much it takes.
type pace struct {
	every time.Duration // between looks that nothing asked for
	gap   time.Duration // after one look before the next, however often this process commits
	near  time.Duration // how far a look goes back behind the last one
	sweep time.Duration // between looks that go back by the window
	away  time.Duration // how long the database may not answer before all subscriptions end

	// window is how late a change may become visible: the time from its id or time to the end of its commit, and how far
	// the clock of its node may be behind.
	window time.Duration

	page       int // rows a statement
	pages      int // statements a look
	remembered int // changes within the window
	buffer     int // rows that a subscription holds
}

// usual is what a server runs at.
var usual = pace{
	every: 250 * time.Millisecond, gap: 20 * time.Millisecond, near: 100 * time.Millisecond,
	sweep: 2 * time.Second, away: 30 * time.Second, window: 10 * time.Second,
	page: 1000, pages: 100, remembered: 200_000, buffer: 1000,
}

// statementTimeout bounds one statement of a look.
const statementTimeout = 5 * time.Second

// track is what a poller knows of what it has read. It belongs to the poller's goroutine.
type track struct {
	pace
	seen    seen
	marks   []mark    // of sweeps, the oldest first
	looked  time.Time // when the last look began, by the clock of the kind
	swept   time.Time // when the last sweep began
	sound   time.Time // when the last look that was answered began
	failing bool      // the last one was not
}

// mark pairs two clocks: what the rows of a kind are ordered by may jump while the machine's does not, or the other way.
type mark struct {
	at    time.Time // monotonic
	clock time.Time // of the kind
}

// newTrack begins at now, when the kind's clock says clock.
func newTrack(p pace, now, clock time.Time) *track {
	return &track{pace: p, sound: now, seen: seen{turned: now}, marks: []mark{{now.Add(-p.window), clock.Add(-p.window)}}}
}

// next returns the place that a look at now goes on after, and whether it is a sweep, which goes back by the window before
// the last look that was answered. Somebody new is watching when joining.
func (t *track) next(now time.Time, joining bool) (from place, sweep bool) {
	if joining || t.failing || now.Sub(t.swept) >= t.sweep {
		return place{at: t.marks[0].clock}, true
	}
	return place{at: t.looked.Add(-t.near)}, false
}

// answered notes a look that began at now and was answered to its end.
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

// rest waits until it is time for the next look: at once, but for the gap, when something wakes it, unless the database
// has just failed to answer.
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
