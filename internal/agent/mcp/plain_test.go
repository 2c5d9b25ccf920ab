package mcp

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the SDK would refuse, or answer by a rule of its own, is no plain call.
func TestWhatIsAPlainCall(t *testing.T) {
	t.Parallel()
	s := &Server{byName: map[string]registeredTool{`"request"`: {tool: &tool{name: "request"}}}}
	const (
		params  = `{"name":"request","arguments":{"id":"req_1"}}`
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		able    = `"io.modelcontextprotocol/clientCapabilities":{}`
	)
	frame := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params + `}`
	}
	withMeta := func(meta string) string { return frame("1", `{"name":"request","_meta":`+meta+`}`) }
	newest := []string{"Mcp-Protocol-Version", sessionless, "Mcp-Method", "tools/call", "Mcp-Name", "request"}
	for _, c := range []struct {
		plain   bool
		message string
		header  []string // names and values
	}{
		{true, frame("1", params), nil}, {true, frame("-7", params), nil}, {true, frame(`"a/b 1"`, params), nil}, {true, frame("1", `{"name":"request"}`), nil},
		{false, frame("1.0", params), nil}, {false, frame("1e3", params), nil}, {false, frame("-0", params), nil}, {false, frame("null", params), nil},
		{false, frame(`"\u0061"`, params), nil}, {false, frame(`"<"`, params), nil}, {false, frame("1234567890123456", params), nil},
		{false, frame("1", `{"name":"nothing"}`), nil}, {false, frame("1", `{"name":"request","task":{}}`), nil}, {false, frame("1", `{"name":"request","Arguments":{}}`), nil},
		{false, `{"id":1,"method":"tools/call","params":` + params + `}`, nil}, {false, `{"jsonrpc":"2.0","method":"tools/call","params":` + params + `}`, nil},
		{false, `{"jsonrpc":"1.0","id":1,"method":"tools/call","params":` + params + `}`, nil}, {false, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, nil},
		{false, `{"jsonrpc":"2.0","id":1,"result":1,"method":"tools/call","params":` + params + `}`, nil},
		{false, frame("1", params), []string{"Accept", "application/json"}}, {false, frame("1", params), []string{"Last-Event-Id", "1"}},
		{true, frame("1", params), []string{"Mcp-Protocol-Version", "2025-06-18"}}, {false, frame("1", params), []string{"Mcp-Protocol-Version", "2025-06-19"}},
		{true, withMeta(`{"progressToken":1}`), nil}, {false, withMeta(`1`), nil}, {false, withMeta(`null`), nil}, {false, withMeta(`{` + version + `}`), nil},
		{true, withMeta(`{` + version + `,` + able + `}`), newest}, {false, withMeta(`{` + version + `,` + able + `}`), newest[:2]}, {false, frame("1", params), newest},
		{false, withMeta(`{` + version + `,` + able + `}`), append(newest[:5:5], "requests")}, {false, withMeta(`{` + version + `}`), newest}, {false, withMeta(`{` + able + `}`), newest},
		{false, withMeta(`{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}`), newest},
		{true, withMeta(`{` + version + `,` + able + `,"io.modelcontextprotocol/clientInfo":{"name":"n","version":"1"}}`), newest},
		{false, withMeta(`{` + version + `,` + able + `,"io.modelcontextprotocol/clientInfo":null}`), newest},
	} {
		h := http.Header{"Accept": {"application/json, text/event-stream"}}
		for i := 0; i+1 < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		m, err := readMessage([]byte(c.message))
		require.NoError(t, err)
		_, plain := s.plainCall(h, m)
		require.Equal(t, c.plain, plain, "%s %v", c.message, c.header)
	}
}
