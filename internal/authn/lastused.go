package authn

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"atrium/ent/apikey"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// flushEvery is how often last-used times are written: one transaction for all keys that were seen.
const flushEvery = 5 * time.Second

// sightings gathers when keys were last used.
type sightings struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func newSightings() *sightings { return &sightings{last: map[string]time.Time{}} }

func (s *sightings) note(keyID string, at time.Time) {
	s.mu.Lock()
	s.last[keyID] = at
	s.mu.Unlock()
}

func (s *sightings) take() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.last
	s.last = map[string]time.Time{}
	return out
}

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
			return lastly(ctx, a.Flush)
		}
	}
}

// lastly runs fn once more after ctx has ended, within a time of its own.
func lastly(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushEvery)
	defer cancel()
	return fn(ctx)
}

// Flush writes the last-used times that were gathered since the last one.
func (a *Authenticator) Flush(ctx context.Context) error {
	seen := a.seen.take()
	if len(seen) == 0 {
		return nil
	}
	ctx = principal.System(ctx, "last-used times of all companies' keys are written together")
	err := a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		for keyID, at := range seen {
			if err := tx.APIKey.Update().Where(apikey.ID(keyID)).SetLastUsedAt(at).Exec(ctx); err != nil {
				return fmt.Errorf("note the use of %s: %w", keyID, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write last-used times: %w", err)
	}
	return nil
}
