package ratelimit

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory counts in this process, for a product that runs on one node. A restart forgets the minute (at most 60 s)
// and, unless Snapshot and Restore carry them over, the day counts.
//
// A key costs about 200 bytes plus 8 bytes for each call of its busiest minute. Nothing runs in the background:
// every call also looks at one other key of its shard, frees its log after two quiet minutes and forgets the key
// a minute after the day of its last call has ended.
type Memory struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

const shardCount = 64

// shard is the part of the keys that share a lock.
type shard struct {
	mu     sync.Mutex
	byKey  map[string]*tally
	all    []*tally // the same, in no order, for the sweep
	cursor int      // the sweep's next index in all
	_      [64]byte // keeps the locks of two shards off one cache line
}

// tally is what is known of one key.
type tally struct {
	key    string
	log    ring  // allowed calls that may still be in the minute
	newest int64 // the last allowed call, which stays known when log is freed
	day    int64 // days since 1970 of count; never ahead of newest's but after Restore
	count  int   // allowed calls of that day
}

// DayCount is how many calls of a key were allowed on one day.
type DayCount struct {
	Key   string
	Day   time.Time // its first instant, midnight UTC
	Count int
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].byKey = map[string]*tally{}
	}
	return m
}

// Take implements Limiter. It never waits for anything but a lock, so it does not read ctx.
func (m *Memory) Take(ctx context.Context, key string, l Limit, now time.Time) (Result, error) {
	return m.TakeMany(ctx, key, l, now, 1)
}

// TakeMany implements Limiter.
func (m *Memory) TakeMany(_ context.Context, key string, l Limit, now time.Time, n int) (Result, error) {
	given, err := instant(key, now, n)
	if err != nil {
		return Result{}, err
	}
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweepOne(given)
	return s.tally(key).take(l, given, n), nil
}

// Snapshot returns the day counts of every key that has one, sorted by key, for Restore after a restart. Calls
// that are taken meanwhile may or may not be in it.
func (m *Memory) Snapshot() []DayCount {
	var out []DayCount
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for _, t := range s.all {
			if t.count > 0 {
				out = append(out, DayCount{Key: t.key, Day: time.UnixMicro(t.day * day).UTC(), Count: t.count})
			}
		}
		s.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b DayCount) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Restore takes over day counts of an earlier process; it is meant to be called before the first Take. Where a key
// has counts already, the later day wins, and on one day the greater count. Rows without a key or a positive count
// are ignored.
func (m *Memory) Restore(counts []DayCount) {
	for _, c := range counts {
		at, err := instant(c.Key, c.Day, 1)
		if err != nil || c.Count <= 0 {
			continue
		}
		s := m.shard(c.Key)
		s.mu.Lock()
		t := s.tally(c.Key)
		switch d := at / day; {
		case d > t.day:
			t.day, t.count = d, c.Count
		case d == t.day:
			t.count = max(t.count, c.Count)
		}
		s.mu.Unlock()
	}
}

func (m *Memory) shard(key string) *shard {
	return &m.shards[maphash.String(m.seed, key)%shardCount]
}

// tally returns the tally of key, a new one where there is none. The shard is locked.
func (s *shard) tally(key string) *tally {
	t, ok := s.byKey[key]
	if !ok {
		t = &tally{key: strings.Clone(key)} // the caller's may be a piece of a whole request
		s.byKey[t.key] = t
		s.all = append(s.all, t)
	}
	return t
}

// sweepOne looks at the next key and drops what can no longer matter. One window of slack covers callers whose now
// is a little behind. The shard is locked.
func (s *shard) sweepOne(now int64) {
	if len(s.all) == 0 {
		return
	}
	if s.cursor >= len(s.all) {
		s.cursor = 0
	}
	t := s.all[s.cursor]
	if (now-window)/day > t.day {
		last := len(s.all) - 1
		s.all[s.cursor], s.all[last] = s.all[last], nil
		s.all = s.all[:last]
		delete(s.byKey, t.key)
		return
	}
	if len(t.log.buf) > ringStart && t.newest <= now-2*window {
		t.log = ring{}
	}
	s.cursor++
}

// take decides about n calls. Only allowed ones change what later calls see.
func (t *tally) take(l Limit, given int64, n int) Result {
	r := reading{given: given, n: n, at: max(given, t.newest)}
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
