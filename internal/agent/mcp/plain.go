package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"atrium/internal/gate"
)

// sessionless is the first revision of the protocol in which each message describes its client.
const sessionless = "2026-07-28"

// plainID matches the ids of messages that are answered as they were written: whole numbers, and texts that nobody escapes.
var plainID = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14}|"[\w ./:-]{0,100}")$`)

// plainCall is a tool call that needs nothing of the protocol besides the frame of its result. It is answered without the SDK, in
// the same bytes, as a test compares. The SDK answers everything else: what is faulty, unknown or rare.
type plainCall struct {
	id          json.RawMessage
	tool        registeredTool
	arguments   json.RawMessage
	sessionless bool
}

// plainCall returns the plain call in a message; false when there is none.
func (s *Server) plainCall(h http.Header, m message) (call plainCall, ok bool) {
	var meta map[string]json.RawMessage
	for name, raw := range m.params {
		switch name {
		case "name":
			call.tool, ok = s.byName[string(raw)]
		case "arguments":
			call.arguments = raw
		case "_meta":
			if json.Unmarshal(raw, &meta) != nil || meta == nil {
				return call, false
			}
		default:
			return call, false
		}
	}
	call.id = m.fields["id"]
	if !ok || len(m.fields) != 4 || string(m.fields["jsonrpc"]) != `"2.0"` || !plainID.Match(call.id) {
		return call, false
	}
	if h.Get("Accept") != "application/json, text/event-stream" || len(h["Accept"]) > 1 || len(h["Last-Event-Id"]) > 0 {
		return call, false
	}
	version, inMeta := h.Get("Mcp-Protocol-Version"), meta[sdk.MetaKeyProtocolVersion]
	if version < sessionless {
		return call, inMeta == nil && (version == "" || slices.Contains(sdk.SupportedProtocolVersions(), version))
	}
	call.sessionless = true
	return call, version == sessionless && string(inMeta) == `"`+sessionless+`"` &&
		h.Get("Mcp-Method") == "tools/call" && h.Get("Mcp-Name") == call.tool.name &&
		describes(meta[sdk.MetaKeyClientCapabilities], &sdk.ClientCapabilities{}) &&
		(meta[sdk.MetaKeyClientInfo] == nil || describes(meta[sdk.MetaKeyClientInfo], &sdk.Implementation{}))
}

// describes reports whether raw is an object that fits the type.
func describes(raw json.RawMessage, as any) bool {
	return bytes.HasPrefix(raw, []byte("{")) && json.Unmarshal(raw, as) == nil
}

// result is the answer to a plain call.
type result struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  struct {
		Meta    map[string]any `json:"_meta,omitempty"`
		Content [1]content     `json:"content"`
		IsError bool           `json:"isError,omitempty"`
		Type    string         `json:"resultType,omitempty"`
	} `json:"result"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// answer answers a plain call. Returns an error when the answer is no JSON.
func (c *caller) answer(w http.ResponseWriter, call plainCall) error {
	out := result{Version: "2.0", ID: call.id}
	if call.sessionless {
		out.Result.Meta, out.Result.Type = map[string]any{sdk.MetaKeyServerInfo: c.server.about()}, "complete"
	}
	text, isError, err := c.safely(call)
	out.Result.Content[0], out.Result.IsError = content{"text", text}, isError
	var body []byte
	if err == nil {
		body, err = json.Marshal(out)
	}
	if err != nil {
		body, err = fault(call.id, err)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	gate.Send(w, http.StatusOK, body)
	return nil
}

// safely calls the tool of a plain call. A panic becomes an error.
func (c *caller) safely(call plainCall) (text string, isError bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.panicked(c.r.Context(), v)
		}
	}()
	return c.call(call.tool, call.arguments)
}

// fault returns the error of JSON-RPC for the message with the id.
func fault(id json.RawMessage, err error) ([]byte, error) {
	var raw any
	if err := json.Unmarshal(id, &raw); err != nil {
		return nil, fmt.Errorf("read the id: %w", err)
	}
	of, made := jsonrpc.MakeID(raw)
	if made != nil {
		return nil, fmt.Errorf("read the id: %w", made)
	}
	return jsonrpc.EncodeMessage(&jsonrpc.Response{ID: of, Error: err})
}
