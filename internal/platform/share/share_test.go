package share_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/internal/platform/share"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// However many callers of one company wait, another company has its place.
func TestOneCompanyLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	p := share.New(2, 1)
	first, err := p.Take(t.Context(), "co_a")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	waiting := make(chan error)
	for range 16 {
		go func() { _, err := p.Take(ctx, "co_a"); waiting <- err }()
	}
	_, ok := p.TakeNow("co_a")
	require.False(t, ok, "it has its share")
	second, ok := p.TakeNow("co_b")
	require.True(t, ok)
	_, ok = p.TakeNow("co_c")
	require.False(t, ok, "all are taken")
	stop()
	for range 16 {
		require.ErrorIs(t, <-waiting, context.Canceled)
	}
	first()
	third, ok := p.TakeNow("co_c")
	require.True(t, ok, "who left has taken no place along")
	second()
	third()
}

// With one place for all, another company comes after one more caller of the first at most, and not after all of them.
func TestAWaitIsOneCallerLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := share.New(1, 1)
		leave, err := p.Take(t.Context(), "co_a")
		require.NoError(t, err)
		took := make(chan string, 17)
		take := func(company string) {
			leave, err := p.Take(t.Context(), company)
			assert.NoError(t, err)
			took <- company
			leave()
		}
		for range 16 {
			go take("co_a")
		}
		synctest.Wait() // all of them wait
		go take("co_b")
		synctest.Wait()
		leave()
		synctest.Wait()
		require.Contains(t, []string{<-took, <-took}, "co_b")
	})
}
