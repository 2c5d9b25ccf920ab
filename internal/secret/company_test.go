package secret_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
)

// long returns a text of 64 KiB.
func long(seed byte) string {
	random := rand.New(rand.NewChaCha8([32]byte{seed}))
	raw := make([]byte, 64<<10)
	for i := range raw {
		raw[i] = byte('!' + random.IntN(90))
	}
	return string(raw)
}

// The long secrets of a company are opened once for all who use them at once, and again only when they have changed; in memory in
// proportion to their length. Who stops waiting gets the cause.
func TestUsesShareTheirMask(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		const count = 12
		owner := w.As(w.A, principal.Owner)
		var names []string
		var last *ent.Secret
		for i := range count {
			name := fmt.Sprint("LONG_", i)
			names = append(names, name)
			last = testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: name, Value: secret.Value(long(byte(i)))})
		}
		ctx := w.As(w.A, principal.Owner)
		db, sealer := w.Store.Reader(), w.Engine.Sealer
		stopped, stop := context.WithCancelCause(ctx)
		stop(fmt.Errorf("stopped"))
		_, _, err := secret.Use(stopped, db, sealer, names[:1])
		require.Error(t, err)

		uses := make([]secret.Uses, 8)
		var all sync.WaitGroup
		for i := range uses {
			all.Go(func() {
				var missing string
				var err error
				if uses[i], missing, err = secret.Use(ctx, db, sealer, names[3:4]); err != nil || missing != "" {
					t.Error(missing, err)
				}
			})
		}
		all.Wait()
		for _, u := range uses {
			require.True(t, u.Shares(uses[0]))
			require.Less(t, u.Memory(), 13*count*64<<10)
			require.Equal(t, long(3), u.Values["LONG_3"])
		}
		require.Equal(t, "<***>", uses[0].Mask.Text("<"+long(3)[500:520]+">"))

		testkit.Run(t, w, owner, secret.UpdateSecret, secret.UpdateSecretInput{ByID: op.ByID{ID: last.ID}, Value: op.SetTo(secret.Value(long(99)))})
		u, _, err := secret.Use(ctx, db, sealer, names[count-1:])
		require.NoError(t, err)
		require.False(t, u.Shares(uses[0]))
		require.Equal(t, long(99), u.Values[names[count-1]])
	})
}

// A call uses at most 64 KiB of secrets, and a company has at most 4 MiB: what they have grows no more then.
func TestSecretsAreBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		var names []string
		for i := range 2 {
			names = append(names, fmt.Sprint("LONG_", i))
			testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: names[i], Value: secret.Value(long(byte(i)))})
		}
		_, _, err := secret.Use(owner, w.Store.Reader(), w.Engine.Sealer, names[:1])
		require.NoError(t, err)
		_, _, err = secret.Use(owner, w.Store.Reader(), w.Engine.Sealer, names)
		require.ErrorIs(t, err, secret.ErrTooMuch)

		for i := 2; i < 63; i++ {
			testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: fmt.Sprint("LONG_", i), Value: secret.Value(long(byte(i)))})
		}
		small := testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "SMALL", Value: "short"})
		grow := secret.UpdateSecretInput{ByID: op.ByID{ID: small.ID}, Value: op.SetTo(secret.Value(long(100)))}
		require.Equal(t, apperr.Conflict, apperr.CodeOf(run(owner, w, secret.UpdateSecret, grow)))
		err = run(owner, w, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "LONG_63", Value: secret.Value(long(63))})
		require.Equal(t, apperr.Conflict, apperr.CodeOf(err))
		require.ErrorContains(t, err, "at most 4096 KiB")
		grow.Value = op.SetTo[secret.Value]("other")
		require.NoError(t, run(owner, w, secret.UpdateSecret, grow), "it grows no more")
	})
}

// Earlier values count as well: a rotation to a short value leaves the long one behind, for as long as the company has room for it. The last
// value that has room is masked, and so is the present one.
func TestEarlierValuesAreBounded(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		owner := w.As(w.A, principal.Owner)
		rotated := func(i int) *ent.Secret {
			s := testkit.Run(t, w, owner, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: fmt.Sprint("LONG_", i), Value: secret.Value(long(byte(i)))})
			return testkit.Run(t, w, owner, secret.RotateSecret, secret.RotateSecretInput{ByID: op.ByID{ID: s.ID}, Value: "short value"})
		}
		const n = 110 // of 64 KiB
		kept, first := 0, rotated(0)
		kept += len(first.Previous)
		for i := 1; i < n; i++ {
			kept += len(rotated(i).Previous)
		}
		require.Greater(t, len(first.Previous), 64<<10)
		require.LessOrEqual(t, kept, 8<<20)
		last := rotated(n)
		require.Less(t, len(last.Previous), 1<<10, "there was no room")
		require.Equal(t, 2, last.Version)
	})
}
