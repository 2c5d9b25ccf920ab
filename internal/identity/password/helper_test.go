package password_test

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/password"
)

// helped returns a Hasher whose helpers are processes of the test's own binary.
func helped(t *testing.T, workers int) *password.Hasher {
	t.Helper()
	h := password.New(password.Options{Workers: workers, Wait: time.Minute, Helper: []string{os.Args[0], "help"}})
	t.Cleanup(h.Close)
	return h
}

// What a helper hashes, the server verifies, and the other way round: texts that are no text included.
func TestHelper(t *testing.T) {
	t.Parallel()
	there, here := helped(t, 1), password.New(password.Options{})
	for _, plain := range []string{"correct horse", "", "Zo\u00eb \uff11", "no \xff text \x00", strings.Repeat("x", 500)} {
		for made, read := range map[*password.Hasher]*password.Hasher{there: here, here: there} {
			hash, err := made.Hash(t.Context(), plain)
			require.NoError(t, err)
			require.False(t, there.NeedsRehash(hash))
			same, err := read.Verify(t.Context(), hash, plain)
			require.NoError(t, err)
			require.True(t, same, "%q", plain)
			same, err = read.Verify(t.Context(), hash, plain+"\xfe")
			require.NoError(t, err)
			require.False(t, same, "%q", plain)
		}
	}
	same, err := there.Verify(t.Context(), "", "anything")
	require.NoError(t, err)
	require.False(t, same)
	_, err = there.Verify(t.Context(), "not a hash", "correct horse")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "correct horse")
	require.Len(t, there.Helpers(), 1, "one did it all")
}

// There are as many helpers as passwords are hashed at once, and none when there is nothing to do.
func TestHelpersComeAndGo(t *testing.T) {
	t.Parallel()
	h := helped(t, 2)
	h.Cheapen()
	require.Empty(t, h.Helpers())
	var wg sync.WaitGroup
	var both sync.WaitGroup
	both.Add(2)
	h.Watch(func() {
		both.Done()
		both.Wait() // until two are at work
	})
	errs := make(chan error, 2)
	for range 2 {
		wg.Go(func() {
			_, err := h.Verify(t.Context(), "", "guess")
			errs <- err
		})
	}
	wg.Wait()
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	pids := h.Helpers()
	require.NotEmpty(t, pids)
	require.LessOrEqual(t, len(pids), 2)
	h.Tire()
	require.Empty(t, h.Helpers())
	for _, pid := range pids {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "it has ended and was waited for")
	}
}

// A helper that dies is replaced before the caller hears of it, and one that cannot be started is done without.
func TestHelperDies(t *testing.T) {
	t.Parallel()
	h := helped(t, 1)
	hash, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	first := h.Helpers()
	require.Len(t, first, 1)
	require.NoError(t, syscall.Kill(first[0], syscall.SIGKILL))
	same, err := h.Verify(t.Context(), hash, "correct horse")
	require.NoError(t, err)
	require.True(t, same)
	second := h.Helpers()
	require.Len(t, second, 1)
	require.NotEqual(t, first, second)

	none := password.New(password.Options{Helper: []string{"/nowhere/to/be/found"}})
	same, err = none.Verify(t.Context(), hash, "correct horse")
	require.NoError(t, err)
	require.True(t, same)

	h.Close()
	require.ErrorIs(t, syscall.Kill(second[0], 0), syscall.ESRCH)
	same, err = h.Verify(t.Context(), hash, "correct horse")
	require.NoError(t, err)
	require.True(t, same, "after Close it is done here")
}

// A helper ends with its input, which is what becomes of it when the server is killed, and does not take what is no task.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, password.Help(strings.NewReader(""), &out))
	err := password.Help(strings.NewReader(`{"plain": correct horse`), &out)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "horse")
	require.Empty(t, out.String())
}
