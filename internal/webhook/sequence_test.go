package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent/event"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// upTo returns the numbers from 1 to n.
func upTo(n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i + 1)
	}
	return out
}

// The events of a resource are numbered from 1 without gaps, in the order of their commits, however many transactions write them at
// once; what is rolled back takes no number.
func TestEventsAreNumbered(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		undo := errors.New("undo")
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				var end error
				if i%3 == 0 {
					end = undo
				}
				subject := fmt.Sprint("req_", i%2)
				err := w.Store.Write(w.As(w.A, principal.Owner), func(ctx context.Context, tx *store.Tx) error {
					for range 2 {
						err := w.Engine.Events.Emit(ctx, tx, events.Event{Name: events.RequestCreated, SubjectID: subject, At: w.Clock.Now(), Data: events.Request{}})
						if err != nil {
							return err
						}
					}
					return end
				})
				if !errors.Is(err, undo) && err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.NoError(t, emitIn(w, w.B, events.RequestCreated, "req_0", nil))
		for _, subject := range []string{"req_0", "req_1"} {
			rows, err := w.Store.Reader().Event.Query().Where(event.SubjectID(subject)).Order(event.BySequence()).All(w.As(w.A, principal.Owner))
			require.NoError(t, err)
			var numbers []int64
			for _, e := range rows {
				numbers = append(numbers, e.Sequence)
			}
			require.Equal(t, upTo(40), numbers)
		}
		e, err := w.Store.Reader().Event.Query().Only(w.As(w.B, principal.Owner))
		require.NoError(t, err)
		require.EqualValues(t, 1, e.Sequence, "another company's")
	})
}
