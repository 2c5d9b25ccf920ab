package op_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// elsewhere is a server that an operation calls: it counts the calls, and answers when it is let.
type elsewhere struct {
	calls  atomic.Int64
	answer func() error
}

// calling returns an operation that renames a service when the other server has answered.
func calling(there *elsewhere) *op.Operation[renaming, *ent.Service] {
	return op.OnRow("service.update", op.Spec{Resource: "Service", Action: op.Update, Scope: "services:write"}, loadService,
		func(ctx context.Context, tx *op.Tx, before *ent.Service, in renaming) (*ent.Service, error) {
			after, err := before.Update().SetName(in.Name).Save(ctx)
			tx.Changed(before, after)
			return after, err
		}).Calling(func(context.Context, *op.Tx, renaming) (any, error) {
		there.calls.Add(1)
		return nil, there.answer()
	})
}

// Another server is called only for a caller who may, and who has seen the row as it is.
func TestNobodyIsCalledForWhatIsRefused(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		there := &elsewhere{answer: func() error { return nil }}
		o, ctx := calling(there), w.As(w.A, principal.Owner)
		made := testkit.Run(t, w, ctx, makes, named{Name: "Mail"})
		in := renaming{ByID: op.ByID{ID: made.ID}, Name: "Post"}

		_, _, err := op.Run(w.As(w.A, principal.Member), w.Engine, o, in, nil)
		refused(t, err, apperr.Forbidden)
		_, _, err = op.Run(w.As(w.B, principal.Owner), w.Engine, o, in, nil)
		refused(t, err, apperr.NotFound)
		_, _, err = op.Run(ctx, w.Engine, o, in, &op.Call{IfMatch: func(any) bool { return false }})
		refused(t, err, apperr.PreconditionFailed)
		require.Zero(t, there.calls.Load())

		testkit.Run(t, w, ctx, o, in)
		require.EqualValues(t, 1, there.calls.Load())
	})
}

// With an idempotency key another server is called once: of two calls at the same time one is refused, a repeated one gets the first
// answer, and what failed may be tried again.
func TestAKeyCallsOnce(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		var once sync.Once
		begun, answers := make(chan struct{}), make(chan error, 4)
		there := &elsewhere{answer: func() error {
			once.Do(func() { close(begun) })
			return <-answers
		}}
		o, ctx := calling(there), w.As(w.A, principal.Owner)
		made := testkit.Run(t, w, ctx, makes, named{Name: "Mail"})
		run := func(mark byte) (*op.Answer, error) {
			_, answer, err := op.Run(ctx, w.Engine, o, renaming{ByID: op.ByID{ID: made.ID}, Name: "Post"}, keyed("k", mark))
			return answer, err
		}

		// A conflict that the other server causes is no reason to call it again.
		answers <- apperr.New(apperr.Conflict, "The other server is busy.")
		answers <- nil
		_, err := run(1)
		refused(t, err, apperr.Conflict)
		require.EqualValues(t, 1, there.calls.Load())
		<-answers

		once, begun = sync.Once{}, make(chan struct{})
		first := make(chan error)
		go func() {
			_, err := run(1)
			first <- err
		}()
		<-begun
		_, err = run(1)
		refused(t, err, apperr.Conflict)
		_, err = run(2)
		refused(t, err, apperr.IdempotencyMismatch)
		answers <- nil
		require.NoError(t, <-first)
		again, err := run(1)
		require.NoError(t, err)
		require.True(t, again.Repeated)
		require.EqualValues(t, 2, there.calls.Load())

		// The window of the key is over.
		w.Clock.SetOffset(op.IdempotencyWindow + time.Minute)
		answers <- nil
		again, err = run(1)
		require.NoError(t, err)
		require.False(t, again.Repeated)
		require.EqualValues(t, 3, there.calls.Load())
	})
}
