package main_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node that is told to stop first reports that it is not ready, and still accepts calls while load balancers notice. Then it
// tells its streams to reconnect, and stops gracefully.
func TestDrain(t *testing.T) {
	each(t, func(t *testing.T, p place) {
		n := p.serve("--drain", "3s")
		c, first := n.client(), n.firstRun()
		laptop := first.laptop("x")
		stream := n.subscribe(c, first.LiveKey, watchRequests)
		n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
		require.NotNil(t, stream.next("data", "requestChanged", "request", "id"))

		told := time.Now()
		require.NoError(t, n.cmd.Process.Signal(sigterm))
		require.Eventually(t, func() bool {
			a, err := send(http.DefaultClient, "GET", n.admin+"/readyz", "", "")
			require.NoError(t, err)
			return a.status == 503 && a.body == `{"status":"stopping"}`+"\n"
		}, patience, 10*time.Millisecond)
		n.call(c, 201, "POST", "/v1/requests", first.LiveKey, laptop)
		require.NotNil(t, stream.next("data", "requestChanged", "request", "id"), "the stream goes on, too")
		ended, err := json.Marshal(stream.next("errors"))
		require.NoError(t, err)
		require.Contains(t, string(ended), `"code":"unavailable"`)
		require.Zero(t, n.wait())
		require.GreaterOrEqual(t, time.Since(told), 3*time.Second)
	})
}
