package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"atrium/ent"
	"atrium/ent/ratecount"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// flushEvery is how often day counts are written.
const flushEvery = 5 * time.Second

// DayCounts stores the day counts of a Memory in the database, so that a restart does not reset them.
type DayCounts struct {
	store   *store.Store
	limiter *Memory
	written map[string]DayCount
}

// NewDayCounts reads today's counts from the database into limiter.
func NewDayCounts(ctx context.Context, s *store.Store, limiter *Memory) (*DayCounts, error) {
	d := &DayCounts{store: s, limiter: limiter, written: map[string]DayCount{}}
	ctx = principal.System(ctx, "daily counts of all credentials are kept together")
	rows, err := s.Reader().RateCount.Query().Where(ratecount.Day(s.Clock().Now().Format(time.DateOnly))).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read daily counts: %w", err)
	}
	var counts []DayCount
	for _, row := range rows {
		day, err := time.Parse(time.DateOnly, row.Day)
		if err != nil {
			return nil, fmt.Errorf("read daily counts: %w", err)
		}
		c := DayCount{Key: row.ID, Day: day, Count: row.Count}
		counts = append(counts, c)
		d.written[row.ID] = c
	}
	limiter.Restore(counts)
	return d, nil
}

// Run writes changed counts every five seconds until ctx ends, and then once more.
func (d *DayCounts) Run(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := d.flush(ctx); err != nil {
				log.WarnContext(ctx, "daily counts were not written", "error", err)
			}
		case <-ctx.Done():
			return d.flush(ctx)
		}
	}
}

// flush writes changed counts, also when ctx has ended.
func (d *DayCounts) flush(ctx context.Context) error {
	counts := d.limiter.Snapshot()
	var changed []DayCount
	for _, c := range counts {
		if d.written[c.Key] != c {
			changed = append(changed, c)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	ctx = principal.System(ctx, "daily counts of all credentials are kept together")
	err := d.store.WriteDetached(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, c := range changed {
			day := c.Day.Format(time.DateOnly)
			n, err := tx.RateCount.Update().Where(ratecount.ID(c.Key)).SetDay(day).SetCount(c.Count).Save(ctx)
			if err == nil && n == 0 {
				err = tx.RateCount.Create().SetID(c.Key).SetDay(day).SetCount(c.Count).Exec(ctx)
			}
			if err != nil { // also if another node has just created the row: the next flush updates it
				return fmt.Errorf("keep the count of %s: %w", c.Key, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep daily counts: %w", err)
	}
	clear(d.written)
	for _, c := range counts {
		d.written[c.Key] = c
	}
	return nil
}

// DeleteDayCounts deletes up to limit counts of days that ended before a moment. Returns how many it deleted.
func DeleteDayCounts(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.RateCount.Query().Where(ratecount.DayLT(before.UTC().Format(time.DateOnly))).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.RateCount.Delete().Where(ratecount.IDIn(ids...)).Exec(ctx)
}
