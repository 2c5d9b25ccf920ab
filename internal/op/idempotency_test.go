package op_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// keyed returns a call with an idempotency key, whose body has the given fingerprint.
func keyed(key string, mark byte) *op.Call {
	return &op.Call{IdempotencyKey: key, Fingerprint: [32]byte{mark}, Render: func(any) (op.Answer, error) {
		return op.Answer{Status: 201, Header: map[string]string{"Location": "/x"}, Body: []byte(`{"data":1}`)}, nil
	}}
}

// A thousand concurrent calls with one key have one effect, and all get the same answer.
func TestOneKeyOneEffect(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const calls = 1000
		ctx := w.As(w.A, principal.Owner)
		var wg sync.WaitGroup
		answers, errs := make([]*op.Answer, calls), make([]error, calls)
		for i := range calls {
			wg.Go(func() { _, answers[i], errs[i] = op.Run(ctx, w.Engine, makes, named{Name: "Mail"}, keyed("k", 1)) })
		}
		wg.Wait()
		first := 0
		for i := range calls {
			require.NoError(t, errs[i])
			require.Equal(t, 201, answers[i].Status)
			require.Equal(t, map[string]string{"Location": "/x"}, answers[i].Header)
			require.JSONEq(t, `{"data":1}`, string(answers[i].Body))
			if !answers[i].Repeated {
				first++
			}
		}
		require.Equal(t, 1, first)
		require.Equal(t, 1, services(t, w))
		require.Len(t, entries(t, w, "service.created"), 1)
	})
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		ctx := w.As(w.A, principal.Owner)
		run := func(ctx context.Context, name string, c *op.Call) (*op.Answer, error) {
			_, a, err := op.Run(ctx, w.Engine, makes, named{Name: name}, c)
			return a, err
		}
		_, err := run(ctx, "One", keyed("k", 1))
		require.NoError(t, err)
		_, err = run(ctx, "Two", keyed("k", 2))
		refused(t, err, apperr.IdempotencyMismatch)
		a, err := run(ctx, "One", keyed("k", 1))
		require.NoError(t, err)
		require.True(t, a.Repeated)

		// Keys of another credential, person or company are separate.
		for i, other := range []context.Context{
			as(w, principal.Owner, func(p *principal.Principal) { p.KeyID = "key_1" }),
			as(w, principal.Owner, func(p *principal.Principal) { p.ClientID = "cli_1" }),
			w.As(w.A, principal.Admin), w.As(w.B, principal.Owner),
		} {
			a, err := run(other, "Other"+string(rune('a'+i)), keyed("k", 9))
			require.NoError(t, err)
			require.False(t, a.Repeated)
		}

		// A refused call stores no answer, so the key can be used again.
		_, err = run(ctx, "One", keyed("again", 1))
		refused(t, err, apperr.Conflict)
		a, err = run(ctx, "Fresh", keyed("again", 2))
		require.NoError(t, err)
		require.False(t, a.Repeated)

		// The key is valid for a day.
		w.Clock.SetOffset(op.IdempotencyWindow - time.Minute)
		a, err = run(ctx, "One", keyed("k", 1))
		require.NoError(t, err)
		require.True(t, a.Repeated)
		w.Clock.SetOffset(op.IdempotencyWindow + time.Minute)
		a, err = run(ctx, "Next day", keyed("k", 2))
		require.NoError(t, err)
		require.False(t, a.Repeated)
	})
}
