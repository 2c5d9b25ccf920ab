package webhook

import (
	"sync"
	"time"
)

const (
	alarmGrain = 50 * time.Millisecond
	alarmRange = 15 * time.Minute // later jobs are found when River looks by itself, within a second
)

// alarm wakes the workers when a job that waits for its time becomes due: one timer for all jobs of a moment.
type alarm struct {
	ring func()

	mu  sync.Mutex
	set map[int64]*time.Timer // by the moment, in grains
}

func newAlarm(ring func()) *alarm { return &alarm{ring: ring, set: map[int64]*time.Timer{}} }

// at rings after a wait, and at most one grain later.
func (a *alarm) at(wait time.Duration) {
	if wait > alarmRange {
		return
	}
	grain := time.Now().Add(wait).UnixNano()/int64(alarmGrain) + 1
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.set == nil || a.set[grain] != nil {
		return
	}
	a.set[grain] = time.AfterFunc(time.Until(time.Unix(0, grain*int64(alarmGrain))), func() {
		a.mu.Lock()
		delete(a.set, grain)
		a.mu.Unlock()
		a.ring()
	})
}

// stop puts the alarm off for good.
func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.set {
		t.Stop()
	}
	a.set = nil
}
