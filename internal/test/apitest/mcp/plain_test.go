package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/agent/mcp"
	"atrium/internal/test/apitest"
)

// A plain tool call has the answer that the SDK gives to the same call, byte by byte. An id with an escape is not plain.
func TestPlainCallsAreAnsweredAsTheSDKWould(t *testing.T) {
	each(t, func(t *testing.T, s *apitest.Server) {
		service, offered := offering(t, s, nil)
		made, _ := call(t, dial(t, s, http.Header{"X-Api-Key": {s.A.OwnerKey.Value}}), "createRequest", vars{
			"serviceId": service, "offeringId": offered, "title": "<b>Zoë & \u2028 \"co\"</b>",
		})
		const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
		for _, version := range []string{"", "2025-03-26", "2025-11-25", "2026-07-28"} {
			for tool, arguments := range map[string]string{
				"request": fmt.Sprintf(`{"id":%q}`, made["data"].(vars)["id"]), "requests": `{"pageSize":1}`, "offering": fmt.Sprintf(`{"id":%q}`, offered),
				"users": `{"colour":1}`, "teams": `null`, "tasks": `[]`, "comments": `{"id":"req_1"}`, "acceptRequest": `{"id":"../users"}`,
			} {
				header := http.Header{"Accept": {"application/json, text/event-stream"}}
				params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
				if version != "" {
					header.Set("Mcp-Protocol-Version", version)
				}
				if version == "2026-07-28" {
					header.Set("Mcp-Method", "tools/call")
					header.Set("Mcp-Name", tool)
					params += "," + meta
				}
				send := func(id string) *apitest.Answer {
					return s.Send(t, apitest.Scenario{
						As: s.A.OwnerKey, Method: http.MethodPost, Path: mcp.Path, Header: header,
						Body: `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{` + params + `}}`,
					})
				}
				plain, bySDK := send("a-1"), send(`\u0061-1`)
				require.Equal(t, http.StatusOK, plain.Status)
				require.Equal(t, string(bySDK.Body), string(plain.Body), "%s %s", version, tool)
				require.Contains(t, string(plain.Body), `"id":"a-1","result":{`)
				require.Equal(t, version == "2026-07-28", strings.Contains(string(plain.Body), `"resultType":"complete"`))
				for _, name := range []string{"Content-Type", "Cache-Control"} {
					require.Equal(t, bySDK.Header.Values(name), plain.Header.Values(name))
				}
			}
		}
	})
}
