package mcp_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/agent/mcp"
	"atrium/internal/desk/request"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/run"
	"atrium/internal/test/apitest"
	"atrium/internal/test/testkit"
)

// BenchmarkDoors makes the same call through REST and MCP, in turns, so that other load on the machine affects both. It reports
// the calls a second of each and their ratio. Calls are made as clients make them, over TLS with persistent connections.
func BenchmarkDoors(b *testing.B) {
	run.TuneGC() // as the server process does
	for name, world := range map[string]func(testing.TB) *testkit.World{"sqlite": testkit.SQLiteWorld, "postgres": testkit.PostgresWorld} {
		w := world(b)
		s := apitest.Serve(b, w, func(p apitest.Parts) (http.Handler, error) {
			p.Log = slog.New(slog.DiscardHandler)
			return doors(p)
		})
		service, offered := offering(b, s, nil)
		var one string
		for i := range 100 {
			one = testkit.Run(b, w, w.As(s.A.Tenant, principal.Owner), request.Create, request.CreateInput{
				ServiceID: service, OfferingID: offered, Title: fmt.Sprint("Request ", i),
			}).ID
		}
		more := fmt.Sprintf(`{"serviceId":%q,"offeringId":%q,"title":"One more"}`, service, offered)
		for _, c := range []struct{ name, method, path, body, tool, arguments string }{
			{"get", http.MethodGet, "/v1/requests/" + one, "", "request", `{"id":"` + one + `"}`},
			{"list", http.MethodGet, "/v1/requests?pageSize=20", "", "requests", `{"pageSize":20}`},
			{"create", http.MethodPost, "/v1/requests", more, "createRequest", more},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				call := func(method, path, body, refused string) {
					r, err := http.NewRequestWithContext(b.Context(), method, s.URL+path, strings.NewReader(body))
					require.NoError(b, err)
					r.Header.Set("Content-Type", "application/json")
					r.Header.Set("Accept", "application/json, text/event-stream")
					r.Header.Set("X-Api-Key", s.A.OwnerKey.Value)
					res, err := s.HTTP.Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					defer res.Body.Close()
					if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode/100 != 2 || strings.Contains(string(answer), refused) {
						b.Errorf("%s %s: %d %s", method, path, res.StatusCode, answer)
					}
				}
				// turn makes some calls on every processor, and returns how long they took.
				turn := func(call func()) time.Duration {
					start := time.Now()
					var wg sync.WaitGroup
					for range runtime.GOMAXPROCS(0) {
						wg.Go(func() {
							for range turnCalls {
								call()
							}
						})
					}
					wg.Wait()
					return time.Since(start)
				}
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.tool, c.arguments)
				var byREST, byMCP time.Duration
				for b.Loop() {
					byREST += turn(func() { call(c.method, c.path, c.body, `"error"`) })
					byMCP += turn(func() { call(http.MethodPost, mcp.Path, message, `"isError":true`) })
				}
				calls := float64(b.N * turnCalls * runtime.GOMAXPROCS(0))
				b.ReportMetric(0, "ns/op") // the time of a turn, which means nothing
				b.ReportMetric(calls/byREST.Seconds(), "REST/s")
				b.ReportMetric(calls/byMCP.Seconds(), "MCP/s")
				b.ReportMetric(byREST.Seconds()/byMCP.Seconds(), "MCP÷REST")
			})
		}
	}
}

// turnCalls is how many calls a processor makes before the other API's turn.
const turnCalls = 20
