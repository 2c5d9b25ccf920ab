package authn

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"atrium/ent/apikey"
	"atrium/ent/session"
	"atrium/ent/user"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// flushEvery is how often last-used times are written, all in one transaction.
const flushEvery = 5 * time.Second

// noteEvery is how far the row of a session or a person may lag behind its last use.
const noteEvery = time.Minute

// lastSeen collects when keys, sessions and people were last seen.
type lastSeen struct {
	mu       sync.Mutex
	keys     map[string]time.Time
	sessions map[string]sighting
	people   map[string]time.Time
}

// sighting is the use of a session.
type sighting struct {
	at, until time.Time
	ip        netip.Addr
}

func newLastSeen() *lastSeen {
	s := &lastSeen{}
	s.clear()
	return s
}

func (s *lastSeen) clear() {
	s.keys, s.sessions, s.people = map[string]time.Time{}, map[string]sighting{}, map[string]time.Time{}
}

func (s *lastSeen) note(keyID string, at time.Time) {
	s.mu.Lock()
	s.keys[keyID] = at
	s.mu.Unlock()
}

func (s *lastSeen) noteSession(of *liveSession, at time.Time, ip netip.Addr) {
	s.mu.Lock()
	s.sessions[of.id] = sighting{at: at, until: SessionExpiry(of.began, at, of.idle), ip: ip}
	s.people[of.userID] = at
	s.mu.Unlock()
}

func (s *lastSeen) notePerson(userID string, at time.Time) {
	s.mu.Lock()
	s.people[userID] = at
	s.mu.Unlock()
}

// take returns the collected times, and starts a new collection.
func (s *lastSeen) take() *lastSeen {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &lastSeen{keys: s.keys, sessions: s.sessions, people: s.people}
	s.clear()
	return out
}

func (s *lastSeen) empty() bool { return len(s.keys)+len(s.sessions)+len(s.people) == 0 }

// Run writes last-used times in batches until ctx ends, and then once more.
func (a *Authenticator) Run(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := a.Flush(ctx); err != nil {
				log.WarnContext(ctx, "last-used times were not written", "error", err)
			}
		case <-ctx.Done():
			return a.Flush(ctx)
		}
	}
}

// Flush writes the last-used times collected since the last Flush, also when ctx ends: they would be lost otherwise.
func (a *Authenticator) Flush(ctx context.Context) error {
	seen := a.seen.take()
	if seen.empty() {
		return nil
	}
	ctx = principal.System(ctx, "last-used times of all companies' keys, sessions and people are written together")
	if err := a.store.WriteDetached(ctx, seen.write); err != nil {
		return fmt.Errorf("write last-used times: %w", err)
	}
	return nil
}

// write records the collected times, unless another node has recorded a later one. It updates rows in the order of
// their ids, so that two nodes cannot deadlock.
func (s *lastSeen) write(ctx context.Context, tx *store.Tx) error {
	for _, id := range slices.Sorted(maps.Keys(s.keys)) {
		at := s.keys[id]
		err := tx.APIKey.Update().Where(apikey.ID(id), apikey.Or(apikey.LastUsedAtIsNil(), apikey.LastUsedAtLT(at))).SetLastUsedAt(at).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the use of %s: %w", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		seen := s.sessions[id]
		u := tx.Session.Update().Where(session.ID(id), session.EndedAtIsNil(), session.LastSeenAtLT(seen.at)).
			SetLastSeenAt(seen.at).SetExpiresAt(seen.until)
		if seen.ip.IsValid() {
			u.SetIP(seen.ip.Unmap().String())
		}
		if err := u.Exec(ctx); err != nil {
			return fmt.Errorf("note the use of %s: %w", id, err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.people)) {
		at := s.people[id]
		err := tx.User.Update().Where(user.ID(id), user.Or(user.LastSeenAtIsNil(), user.LastSeenAtLT(at))).SetLastSeenAt(at).Exec(ctx)
		if err != nil {
			return fmt.Errorf("note the sight of %s: %w", id, err)
		}
	}
	return nil
}
