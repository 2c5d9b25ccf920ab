package run_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/platform/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var log = slog.New(slog.DiscardHandler)

// journal records in order what happens.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// part returns a part that runs until its context ends, and then returns err.
func (j *journal) part(name string, running chan<- struct{}, err error) run.Part {
	return run.Part{Name: name, Run: func(ctx context.Context) error {
		running <- struct{}{}
		<-ctx.Done()
		j.note(name)
		return err
	}}
}

func TestPartsStopInReverse(t *testing.T) {
	t.Parallel()
	var j journal
	running := make(chan struct{}, 3)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- run.All(ctx, log, j.part("database", running, nil), j.part("workers", running, context.Canceled), j.part("listener", running, nil))
	}()
	for range 3 {
		<-running
	}
	cancel()
	require.NoError(t, <-done)
	require.Equal(t, []string{"listener", "workers", "database"}, j.lines)
}

// The context ends d after its parent, or when it is cancelled.
func TestDrained(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	soon, release := run.Drained(ctx, log, time.Millisecond)
	defer release()
	require.NoError(t, soon.Err())
	stop()
	<-soon.Done()

	never, cancel := run.Drained(ctx, log, time.Hour)
	require.NoError(t, never.Err(), "it has an hour, although it was told to stop")
	cancel()
	<-never.Done()
}

func TestFailedPartStopsTheOthers(t *testing.T) {
	t.Parallel()
	var j journal
	running := make(chan struct{}, 2)
	boom, late := errors.New("boom"), errors.New("late")
	err := run.All(t.Context(), log, j.part("database", running, late), run.Part{Name: "listener", Run: func(context.Context) error {
		<-running
		return boom
	}})
	require.ErrorIs(t, err, boom)
	require.ErrorIs(t, err, late, "how the others stopped is told, too")
	require.ErrorContains(t, err, "listener ended by itself")
	require.Equal(t, []string{"database"}, j.lines)
}

func TestPartThatEndsWithoutError(t *testing.T) {
	t.Parallel()
	err := run.All(t.Context(), log, run.Part{Name: "listener", Run: func(context.Context) error { return nil }})
	require.ErrorContains(t, err, "listener ended by itself")
}

func TestPartThatDoesNotStop(t *testing.T) {
	t.Parallel()
	release, stopped := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := run.All(ctx, log, run.Part{Name: "stubborn", Grace: time.Millisecond, Run: func(context.Context) error {
		defer close(stopped)
		<-release
		return nil
	}})
	require.ErrorContains(t, err, "stubborn did not stop within 1ms")
	close(release)
	<-stopped
}
