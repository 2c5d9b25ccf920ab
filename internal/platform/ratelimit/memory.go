package ratelimit

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory counts in this process, for a product that runs on one node. A restart loses the minute (at most 60 s) and, unless
// Snapshot and Restore carry them over, the day counts.
//
// A key takes about 200 bytes plus 8 bytes for each call of its busiest minute. Nothing runs in the background: every call also
// checks one other key, frees the key's log after two minutes without calls, and deletes the key one minute after
// the day of its last call has ended.
type Memory struct {
	mu     sync.Mutex
	byKey  map[string]*keyState
	all    []*keyState // the same states in no particular order, for the sweep
	cursor int         // index in all of the sweep's next key
}

// keyState is the state of one key.
type keyState struct {
	key    string
	log    ring  // times of allowed calls that may still be in the minute
	newest int64 // time of the last allowed call; kept when log is freed
	day    int64 // the day of count, in days since 1970; later than the day of newest only after Restore
	count  int   // allowed calls on that day
}

// DayCount is the number of allowed calls of a key on one day.
type DayCount struct {
	Key   string
	Day   time.Time // midnight UTC
	Count int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{byKey: map[string]*keyState{}}
}

// Take implements Limiter. It waits only for a lock and ignores ctx.
func (m *Memory) Take(ctx context.Context, key string, l Limit, now time.Time) (Result, error) {
	return m.TakeMany(ctx, key, l, now, 1)
}

// TakeMany implements Limiter.
func (m *Memory) TakeMany(_ context.Context, key string, l Limit, now time.Time, n int) (Result, error) {
	given, err := instant(key, now, n)
	if err != nil {
		return Result{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweepOne(given)
	return m.state(key).take(l, given, n), nil
}

// Snapshot returns the day counts of all keys that have one, sorted by key, for Restore after a restart. It may or may not
// include concurrent calls.
func (m *Memory) Snapshot() []DayCount {
	var out []DayCount
	m.mu.Lock()
	for _, t := range m.all {
		if t.count > 0 {
			out = append(out, DayCount{Key: t.key, Day: time.UnixMicro(t.day * day).UTC(), Count: t.count})
		}
	}
	m.mu.Unlock()
	slices.SortFunc(out, func(a, b DayCount) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Restore adopts day counts of an earlier process. Call it before the first Take. If a key has a count already, the later day
// wins, and for the same day the greater count. Rows without a key or a positive count are ignored.
func (m *Memory) Restore(counts []DayCount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range counts {
		at, err := instant(c.Key, c.Day, 1)
		if err != nil || c.Count <= 0 {
			continue
		}
		t := m.state(c.Key)
		switch d := at / day; {
		case d > t.day:
			t.day, t.count = d, c.Count
		case d == t.day:
			t.count = max(t.count, c.Count)
		}
	}
}

// state returns the state of key; it creates a missing one. The caller holds the lock.
func (m *Memory) state(key string) *keyState {
	t, ok := m.byKey[key]
	if !ok {
		t = &keyState{key: strings.Clone(key)} // the caller's string may keep a whole request in memory
		m.byKey[t.key] = t
		m.all = append(m.all, t)
	}
	return t
}

// sweepOne checks the next key and drops what is no longer needed. It waits one window longer than necessary, for callers whose
// now is a little behind. The caller holds the lock.
func (m *Memory) sweepOne(now int64) {
	if len(m.all) == 0 {
		return
	}
	if m.cursor >= len(m.all) {
		m.cursor = 0
	}
	t := m.all[m.cursor]
	if (now-window)/day > t.day {
		last := len(m.all) - 1
		m.all[m.cursor], m.all[last] = m.all[last], nil
		m.all = m.all[:last]
		delete(m.byKey, t.key)
		return
	}
	if len(t.log.buf) > ringStart && t.newest <= now-2*window {
		t.log = ring{}
	}
	m.cursor++
}

// take decides about n calls. Only allowed calls change the counts.
func (t *keyState) take(l Limit, given int64, n int) Result {
	r := counts{given: given, n: n, at: max(given, t.newest)}
	if t.newest-given >= window { // the clock was set back
		t.log.drop(t.log.through(t.newest - window))
		t.log.restamp(given)
		t.newest, r.at = given, given
	}
	expired := t.log.through(r.at - window)
	r.minute = t.log.n - expired
	if t.day == r.at/day {
		r.day = t.count
	}
	allowed := r.minute <= l.PerMinute-n && r.day <= l.PerDay-n
	if allowed {
		r.minute += n
		r.day += n
		t.log.drop(expired)
		for range n {
			t.log.push(r.at, l.PerMinute)
		}
		expired = 0
		t.newest, t.day, t.count = r.at, r.at/day, r.day
	}
	if r.minute > 0 {
		r.oldest = t.log.at(expired)
	}
	if n <= l.PerMinute && !allowed && r.minute > l.PerMinute-n {
		r.blocking = t.log.at(expired + r.minute + n - l.PerMinute - 1)
	}
	return r.result(allowed, l)
}
