package gate_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/gate"
)

// Which calls get a line depends on what the operator has chosen.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	answer := func(status int, before, after time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			gate.SetOperation(w, "thing.read")
			time.Sleep(before)
			gate.Send(w, status, []byte("{}"))
			time.Sleep(after)
		}
	}
	for name, c := range map[string]struct {
		handler       http.HandlerFunc
		status, bytes int
		took          time.Duration
		isError       bool
	}{
		"fine":         {answer(200, 0, 0), 200, 2, 0, false},
		"refused":      {answer(409, 0, 0), 409, 2, 0, false},
		"a second":     {answer(200, time.Second, 0), 200, 2, time.Second, false},
		"slow":         {answer(200, time.Second+time.Millisecond, 0), 200, 2, time.Second + time.Millisecond, true},
		"a stream":     {answer(200, 0, time.Minute), 200, 2, time.Minute, false},
		"unavailable":  {answer(503, 0, 0), 503, 2, 0, true},
		"out of order": {func(http.ResponseWriter, *http.Request) { panic("hunter2") }, 500, -1, 0, true},
	} {
		for _, logged := range []gate.Logged{gate.LogNone, gate.LogErrors, gate.LogAll} {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				g := gate.New(gate.Options{Log: slog.New(slog.DiscardHandler), Logged: logged, AccessLog: slog.New(slog.NewJSONHandler(&out, nil))})
				res := call(g, c.handler, nil)
				if logged == gate.LogNone || logged == gate.LogErrors && !c.isError {
					require.Empty(t, out.String(), name)
					return
				}
				var line map[string]any
				require.NoError(t, json.Unmarshal(out.Bytes(), &line), name)
				require.NotContains(t, out.String(), "hunter2")
				delete(line, "time")
				want := map[string]any{
					"level": "INFO", "msg": "call", "requestId": res.Header().Get("X-Request-Id"), "principal": nil, "company": nil,
					"operation": "thing.read", "status": float64(c.status), "durationMs": float64(c.took.Milliseconds()), "bytes": float64(c.bytes),
				}
				if c.bytes < 0 {
					want["operation"], want["bytes"] = nil, float64(res.Body.Len())
				}
				require.Equal(t, want, line, name)
			})
		}
	}
}
