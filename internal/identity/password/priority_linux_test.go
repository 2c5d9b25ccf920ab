package password_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/identity/password"
)

// Passwords are hashed on a thread of low priority, which serves nothing else afterwards. The test is not parallel, because
// other tests hash too.
func TestPriority(t *testing.T) {
	low := func() (n int) {
		tasks, err := filepath.Glob("/proc/self/task/*/stat")
		require.NoError(t, err)
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			if err != nil {
				continue // it has just ended
			}
			_, fields, _ := strings.Cut(string(stat), ") ")
			main := filepath.Base(filepath.Dir(task)) == strconv.Itoa(os.Getpid()) // Go cannot end the main thread, and keeps it idle
			if nice, err := strconv.Atoi(strings.Fields(fields)[16]); err == nil && nice > 0 && !main {
				n++
			}
		}
		return n
	}
	require.Zero(t, low())
	h, priority := password.New(password.Options{Memory: 64}), 0
	h.Watch(func() { priority, _ = syscall.Getpriority(syscall.PRIO_PROCESS, 0) })
	_, err := h.Verify(t.Context(), "", "guess")
	require.NoError(t, err)
	require.Equal(t, 20-10, priority, "as the system call counts: 20 minus the niceness")
	require.Eventually(t, func() bool { return low() == 0 }, 10*time.Second, time.Millisecond)
}
