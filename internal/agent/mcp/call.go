package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// callerKey is the key of the caller in a context.
type callerKey struct{}

// callerOf returns the caller. The SDK's contexts have the values of the HTTP request's context, but do not end with it.
func callerOf(ctx context.Context) (*caller, error) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, errors.New("nobody is calling")
	}
	return c, nil
}

// caller is the caller of one HTTP request.
type caller struct {
	server *Server
	r      *http.Request

	mu        sync.Mutex // the SDK's goroutine may outlive the HTTP request
	operation string     // of the tool; empty for other methods
	status    int        // of the operation's answer in REST; 0 while there is none
}

func (c *caller) ended(operation string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operation, c.status = operation, status
}

// record has the access log and the metrics show the operation and its status: the HTTP status of a tool call is always 200.
func (c *caller) record(w http.ResponseWriter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.operation != "" {
		gate.SetOperation(w, c.operation)
	}
	if c.status != 0 {
		gate.SetStatus(w, c.status)
	}
}

// panicked logs a panic, and returns the error of JSON-RPC for it. The SDK answers on goroutines of its own, where a panic would end
// the process.
func (c *caller) panicked(ctx context.Context, value any) error {
	p, _ := principal.From(c.r.Context())
	c.server.Log.ErrorContext(ctx, "panic", "value", fmt.Sprint(value), "stack", string(debug.Stack()), "requestId", p.RequestID)
	c.ended(c.operation, http.StatusInternalServerError)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Something went wrong on our side. The request's id is " + p.RequestID + "."}
}

// list returns the tools that the caller's role and scopes allow.
func (c *caller) list() (*sdk.ListToolsResult, error) {
	out := &sdk.ListToolsResult{Tools: []*sdk.Tool{}, Cacheable: sdk.Cacheable{CacheScope: "private"}} // the list differs from caller to caller
	p, ok := principal.From(c.r.Context())
	if !ok {
		return nil, errors.New("nobody is calling")
	}
	for _, t := range c.server.tools {
		may, err := op.MayCall(c.r.Context(), c.server.Engine, t.info)
		if err != nil {
			return nil, fmt.Errorf("ask for the caller's rights: %w", err)
		}
		if p.Type == principal.TypeAgent && t.info.Action != op.Read && !t.info.OfAgents && !slices.Contains(p.Run.Tools, t.name) {
			may = false
		}
		if may {
			out.Tools = append(out.Tools, t.shown)
		}
	}
	return out, nil
}

// call runs the operation of a tool, and returns the result's text. isError says that it is an error of the operation.
func (c *caller) call(t registeredTool, arguments json.RawMessage) (text string, isError bool, err error) {
	p, ok := principal.From(c.r.Context())
	if !ok {
		return "", false, errors.New("nobody is calling")
	}
	c.ended(t.info.Name, 0)
	as := *p
	as.Via = "mcp"
	answer, err := c.run(principal.With(c.r.Context(), &as), t, arguments)
	if err != nil {
		refusal := &refusal{header: http.Header{"X-Request-Id": {p.RequestID}}}
		gate.Fail(c.server.Log, refusal, c.r, err)
		answer = &op.Answer{Status: refusal.status, Body: refusal.body}
	}
	c.ended(t.info.Name, answer.Status)
	body, isError := answer.Body, answer.Status >= http.StatusBadRequest
	if t.show != nil && !isError {
		if body, err = t.show(body); err != nil {
			return "", false, err
		}
	}
	return string(body), isError, nil
}

// refusal records an error as /v1 answers it.
type refusal struct {
	header http.Header
	status int
	body   []byte
}

func (a *refusal) Header() http.Header    { return a.header }
func (a *refusal) WriteHeader(status int) { a.status = status }
func (a *refusal) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

// run runs the operation of a tool. Returns validation_error for an unknown argument or a missing path argument.
func (c *caller) run(ctx context.Context, t registeredTool, arguments json.RawMessage) (*op.Answer, error) {
	var given map[string]json.RawMessage
	if len(arguments) > 0 { // strict JSON, as the whole message is
		if err := json.Unmarshal(arguments, &given); err != nil {
			return nil, apperr.InvalidField("arguments", "must be an object")
		}
	}
	if given == nil { // nothing, or null
		given = map[string]json.RawMessage{}
	}
	params, err := t.params(given)
	if err != nil {
		return nil, err
	}
	var unknown []apperr.Detail
	for name := range given {
		if !t.info.Input.HasBody() || !t.has(name) {
			unknown = append(unknown, apperr.Detail{Field: name, Message: "is not a known argument"})
		}
	}
	if len(unknown) > 0 {
		slices.SortFunc(unknown, func(a, b apperr.Detail) int { return strings.Compare(a.Field, b.Field) })
		return nil, apperr.Invalid(unknown...)
	}
	var body []byte
	if t.info.Action != op.Read {
		if body, err = json.Marshal(given); err != nil {
			return nil, fmt.Errorf("write the body: %w", err)
		}
	}
	return c.server.Calls(ctx, t.info, params, body, c.r.Header.Values("Idempotency-Key"))
}

// params removes the parameters of the path and the query from the arguments, and returns them as they are written in a URL.
func (t *tool) params(given map[string]json.RawMessage) (url.Values, error) {
	params, missing := url.Values{}, ""
	for _, p := range t.info.Input.Params {
		raw, ok := given[p.Name]
		if ok && string(raw) == "null" && t.has(p.Name) { // some clients name each argument
			delete(given, p.Name)
			ok = false
		}
		if !ok || !t.has(p.Name) {
			if p.In == "path" {
				missing = p.Name
			}
			continue
		}
		delete(given, p.Name)
		values, err := plain(raw)
		if err != nil {
			return nil, apperr.InvalidField(p.Name, "must be a text, a number or a list of texts")
		}
		if p.In == "path" {
			if raw[0] != '"' {
				return nil, apperr.InvalidField(p.Name, "must be a text")
			}
			if values[0] == "" {
				return nil, apperr.InvalidField(p.Name, "is required")
			}
		}
		if raw[0] == '"' {
			values = t.info.Input.Split(p.Name, values[0])
		}
		params[p.Name] = values
	}
	if missing != "" {
		return nil, apperr.InvalidField(missing, "is required")
	}
	return params, nil
}

// has reports whether the tool has an argument, if its operation has.
func (t *tool) has(name string) bool { return len(t.only) == 0 || slices.Contains(t.only, name) }

// plain returns the values of an argument as they are written in a URL.
func plain(raw json.RawMessage) ([]string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	one := func(v any) (string, bool) {
		switch v := v.(type) {
		case string:
			return v, true
		case json.Number:
			return v.String(), true
		case bool:
			return fmt.Sprint(v), true
		}
		return "", false
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var parts []string
	for _, e := range list {
		s, ok := one(e)
		if !ok {
			return nil, errors.New("no plain value")
		}
		parts = append(parts, s)
	}
	return parts, nil
}
