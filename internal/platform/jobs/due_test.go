package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/team"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Pages follow each other in the order of time and id on both databases, even where many rows fall due at the same time.
func TestDuePagesFollowEachOther(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		early := time.Now().UTC().Truncate(time.Second)
		require.NoError(t, w.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			for n, at := range []time.Time{early.Add(time.Second), early, early.Add(time.Millisecond), early, early} {
				name := string(rune('a' + n))
				if err := tx.Team.Create().SetName(name).SetSlug(name).SetCreatedAt(at).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		}))
		want, err := w.Store.Reader().Team.Query().Order(team.ByCreatedAt(), team.ByID()).Where(team.CreatedAtGTE(early)).IDs(ctx)
		require.NoError(t, err)
		require.Len(t, want, 5)
		var got []string
		require.NoError(t, jobs.DueEach(ctx, 2, func(last *ent.Team) ([]*ent.Team, error) {
			q := w.Store.Reader().Team.Query().Where(team.CreatedAtGTE(early))
			if last != nil {
				q.Where(jobs.After[predicate.Team](team.FieldCreatedAt, last.CreatedAt, last.ID))
			}
			return q.Order(team.ByCreatedAt(), team.ByID()).Limit(2).All(ctx)
		}, func(row *ent.Team) error {
			got = append(got, row.ID)
			return nil
		}))
		require.Equal(t, want, got)
	})
}

// Rows that fail, even a page full of them, do not hold up later rows, and each is visited once per run.
func TestDueRowsThatFailHoldUpNone(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var looked []int
	page := func(last *int) ([]*int, error) {
		from := 0
		if last != nil {
			from = *last
		}
		var rows []*int
		for n := from + 1; n <= min(from+2, 5); n++ {
			rows = append(rows, new(n))
		}
		return rows, nil
	}
	err := jobs.DueEach(t.Context(), 2, page, func(n *int) error {
		looked = append(looked, *n)
		if *n < 4 {
			return broken
		}
		return nil
	})
	require.ErrorIs(t, err, broken)
	require.Equal(t, []int{1, 2, 3, 4, 5}, looked)
}

// When its context ends, a run stops after the current row and returns the context's error.
func TestDueStopsWhereItIs(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	looked := 0
	err := jobs.DueEach(ctx, 2, func(*int) ([]*int, error) { return []*int{new(1), new(2)}, nil }, func(*int) error {
		looked++
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, looked)
}
