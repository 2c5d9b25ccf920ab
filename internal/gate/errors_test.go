package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
)

// What is ours to mend is logged as an error, and a database that is away is that, too. What a caller is told for a reason of its own
// is not, although a broken connection may be behind it.
func TestWhatIsLogged(t *testing.T) {
	t.Parallel()
	broken := fmt.Errorf("read: %w", &net.OpError{Op: "read", Err: syscall.ECONNRESET})
	for name, c := range map[string]struct {
		err    error
		status int
		logged bool
	}{
		"a mistake of ours":           {errors.New("a mistake"), http.StatusInternalServerError, true},
		"a database that is away":     {broken, http.StatusServiceUnavailable, true},
		"a counter that is away":      {apperr.Wrap(broken, apperr.Unavailable, "Try again shortly."), http.StatusServiceUnavailable, false},
		"an address without a server": {apperr.Wrap(broken, apperr.Validation, "The request is not valid."), http.StatusBadRequest, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://atrium.test/thing/1", nil)
			gate.Fail(slog.New(slog.NewJSONHandler(&log, nil)), w, r, c.err)
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.logged, bytes.Contains(log.Bytes(), []byte(`"level":"ERROR"`)), log.String())
		})
	}
}

// A caller who leaves while its call is under way cancels what the call does. That is no fault of ours, and no refusal either.
func TestCallersWhoLeave(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	var log bytes.Buffer
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "https://atrium.test/thing/1", nil)
	gate.Fail(slog.New(slog.NewJSONHandler(&log, nil)), w, r, fmt.Errorf("read the page: %w", ctx.Err()))
	require.Equal(t, 499, w.Code)
	require.Empty(t, log.String())
}
