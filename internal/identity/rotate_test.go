package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity"
	"atrium/internal/platform/principal"
	"atrium/internal/test/testkit"
)

// kids are the keys that verify now, oldest first.
func kids(t *testing.T, k *identity.Keys) []string {
	t.Helper()
	set, err := k.Public(t.Context())
	require.NoError(t, err)
	var out []string
	for _, key := range set.Keys {
		out = append(out, key.KeyID)
	}
	return out
}

const day = 24 * time.Hour

// Keys are replaced after 90 days without a restart: the new one is shown before it signs, the old one verifies until its
// longest token has ended.
func TestRotate(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		keys := identity.NewKeys(w.Store, w.Engine.Sealer)
		require.NoError(t, keys.Rotate(t.Context()), "nothing has been signed yet: nothing to do")
		n, err := w.Store.Reader().SigningKey.Query().Count(principal.System(context.Background(), "test"))
		require.NoError(t, err)
		require.Zero(t, n)

		first := kid(t, keys)
		tokens := identity.NewTokens(keys, "https://i.test", "https://a.test", w.Clock.Now)
		year, _, err := tokens.Issue(t.Context(), "usr_1", "co_1", "operator", nil, 8760*time.Hour)
		require.NoError(t, err)
		at := func(d time.Duration) {
			w.Clock.SetOffset(d)
			require.NoError(t, keys.Rotate(t.Context()))
		}
		at(90*day - time.Minute)
		require.Equal(t, []string{first}, kids(t, keys))
		at(90 * day)
		require.Len(t, kids(t, keys), 2)
		require.Equal(t, first, kid(t, keys), "nobody knows the new one yet")
		at(90*day + time.Minute)
		require.Len(t, kids(t, keys), 2, "one is enough")
		w.Clock.SetOffset(90*day + 31*time.Minute)
		second := kid(t, keys)
		require.NotEqual(t, first, second)
		short, _, err := tokens.Issue(t.Context(), "usr_1", "co_1", "operator", nil, time.Minute)
		require.NoError(t, err)
		for _, token := range []string{year, short} {
			_, err := tokens.Verify(t.Context(), token)
			require.NoError(t, err)
		}
		at(364 * day)
		_, err = tokens.Verify(t.Context(), year)
		require.NoError(t, err, "as long as it lasts")
		at(90*day + 366*day)
		require.NotContains(t, kids(t, keys), first)
		require.Contains(t, kids(t, keys), second)
	})
}

// What another node has rotated signs here, too, once it is time.
func TestRotationReachesOtherNodes(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		here, there := identity.NewKeys(w.Store, w.Engine.Sealer), identity.NewKeys(w.Store, w.Engine.Sealer)
		first := kid(t, here)
		require.Equal(t, first, kid(t, there))
		w.Clock.SetOffset(91 * day)
		require.NoError(t, there.Rotate(t.Context()))
		w.Clock.SetOffset(92 * day)
		require.Eventually(t, func() bool { return kid(t, here) != first }, 10*time.Second, time.Millisecond)
		require.Equal(t, kid(t, there), kid(t, here))
	})
}

// The job queue sees to it when it starts.
func TestRotationIsAJob(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		keys := identity.NewKeys(w.Store, w.Engine.Sealer)
		kid(t, keys)
		w.Clock.SetOffset(90 * day)
		w.WorkJobs(t, identity.Rotation(keys)...)
		require.Eventually(t, func() bool { return len(kids(t, keys)) == 2 }, 30*time.Second, 20*time.Millisecond)
	})
}
