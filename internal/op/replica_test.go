package op_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

var finds = op.New("service.list", op.Spec{Resource: "Service", Action: op.Read, Scope: "services:read"},
	func(ctx context.Context, tx *op.Tx, _ struct{}) ([]*ent.Service, error) {
		return tx.Service.Query().All(ctx)
	})

// names returns the names of the services that the caller may see, as a door lists them.
func names(ctx context.Context, w *testkit.World) ([]string, error) {
	list, _, err := op.Run(ctx, w.Engine, finds, struct{}{}, nil)
	var out []string
	for _, s := range list {
		out = append(out, s.Name)
	}
	return out, err
}

// replicates waits until the replica answers lists.
func replicates(t *testing.T, w *testkit.World) {
	t.Helper()
	require.Eventually(t, func() bool {
		before, _, _ := w.Store.ReplicaReads()
		_, err := names(w.As(w.A, principal.Owner), w)
		after, _, behind := w.Store.ReplicaReads()
		return assert.NoError(t, err) && after > before && behind == 0
	}, time.Minute, 10*time.Millisecond)
}

// Whoever has created something finds it in the next list, whether the replica keeps up, stands still or goes on, while others write;
// and the other company sees its own and nothing else all the time.
func TestReplicaShowsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	w, r := testkit.ReplicatedWorld(t)
	load := func(round string) {
		var all sync.WaitGroup
		for _, of := range []*testkit.Tenant{w.A, w.B} {
			for caller := range 2 {
				all.Go(func() {
					ctx := w.As(of, principal.Owner)
					for n := range 20 {
						name := fmt.Sprintf("%s %s %d %d", of.Company.ID, round, caller, n)
						_, _, err := op.Run(ctx, w.Engine, makes, named{Name: name}, nil)
						assert.NoError(t, err)
						seen, err := names(ctx, w)
						assert.NoError(t, err)
						assert.Contains(t, seen, name)
						for _, one := range seen {
							assert.Contains(t, one, of.Company.ID)
						}
					}
				})
			}
		}
		all.Wait()
	}
	replicates(t, w)
	load("streaming")
	answered, _, _ := w.Store.ReplicaReads()
	require.Greater(t, answered, int64(1))

	r.Pause()
	load("paused")
	require.Eventually(t, func() bool { _, _, behind := w.Store.ReplicaReads(); return behind > 0 }, time.Minute, 10*time.Millisecond)
	require.ErrorContains(t, w.Store.CheckReplica(t.Context()), "behind")

	r.Resume()
	replicates(t, w)
	load("again")
	require.NoError(t, w.Store.CheckReplica(t.Context()))
}

// No call fails when the replica dies, stops answering or comes back.
func TestReplicaGoesAway(t *testing.T) {
	t.Parallel()
	w, r := testkit.ReplicatedWorld(t)
	_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, makes, named{Name: "IT"}, nil)
	require.NoError(t, err)
	replicates(t, w)
	over := make(chan struct{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				began := time.Now()
				seen, err := names(w.As(w.A, principal.Owner), w)
				assert.NoError(t, err)
				assert.Equal(t, []string{"IT"}, seen)
				assert.Less(t, time.Since(began), 10*time.Second)
			}
		})
	}
	primary := func() {
		t.Helper()
		require.Eventually(t, func() bool { _, _, behind := w.Store.ReplicaReads(); return behind > time.Second }, time.Minute, 10*time.Millisecond)
		require.Error(t, w.Store.CheckReplica(t.Context()))
	}
	r.Kill()
	primary()
	r.Revive()
	replicates(t, w)
	r.Freeze()
	primary()
	r.Thaw()
	replicates(t, w)
	close(over)
	all.Wait()
}

// What is remembered for as long as nobody announces a change is never made of what a replica answered.
func TestReplicaIsNotRemembered(t *testing.T) {
	t.Parallel()
	w, _ := testkit.ReplicatedWorld(t)
	replicates(t, w)
	made := 0
	counts := op.New("service.list", op.Spec{Resource: "Service", Action: op.Read, Scope: "services:read"},
		func(ctx context.Context, tx *op.Tx, _ struct{}) (int, error) {
			return op.Known(ctx, tx, "test", func(context.Context) (int, error) { made++; return made, nil })
		})
	for range 2 {
		_, _, err := op.Run(w.As(w.A, principal.Owner), w.Engine, counts, struct{}{}, nil)
		require.NoError(t, err)
	}
	require.Equal(t, 2, made)
}
