package rest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"atrium/internal/gate"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// sent is a call of a row as it was sent. The row reads it step by step, in the order of the methods, so that each step's refusal
// comes in its turn.
type sent interface {
	path(name string) string                                             // a parameter of the path
	read() (body []byte, query url.Values, err error)                    // once the caller may call; each value of a list on its own
	key(body []byte) (key string, fingerprint [32]byte, err error)       // the idempotency key, once the input is valid
	ifMatch(tag func(row any) (body any)) (unchanged func(row any) bool) // nil: the row is not compared
}

// overHTTP is a call of /v1.
type overHTTP struct {
	*route
	w http.ResponseWriter
	r *http.Request
}

func (c overHTTP) path(name string) string { return pathValue(c.r, name) }

func (c overHTTP) read() (raw []byte, query url.Values, err error) {
	post := c.method == http.MethodPost
	switch {
	case (post || c.method == http.MethodPut) && c.op.Input.Optional() && c.r.ContentLength == 0 && c.r.Header.Get("Content-Type") == "":
		raw = []byte("{}") // all of the fields are left out
	case c.op.Input.HasBody() || post && c.r.ContentLength != 0: // a POST without fields may send {}
		if raw, err = gate.ReadBody(c.w, c.r); err != nil {
			return nil, nil, err
		}
	}
	if query, err = c.op.Input.Query(c.r.URL.RawQuery); err != nil {
		return nil, nil, apperr.InvalidField("query", "must be parameters joined by '&', percent-encoded")
	}
	return raw, query, nil
}

func (c overHTTP) key(raw []byte) (string, [32]byte, error) { return gate.IdempotencyKey(c.r, raw) }

func (c overHTTP) ifMatch(tag func(any) any) func(any) bool { return ifMatch(c.r, tag) }

// pathValue returns a decoded path parameter. chi returns the raw text when the path has an unusual encoding.
func pathValue(r *http.Request, name string) string {
	v := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return v
	}
	if decoded, err := url.PathUnescape(v); err == nil {
		return decoded
	}
	return v
}

// inProcess is a call that package mcp makes: see Server.Inside.
type inProcess struct {
	*route
	inPath map[string]string
	query  url.Values
	body   []byte
	keys   []string // the values of the header Idempotency-Key
}

func (c inProcess) path(name string) string { return c.inPath[name] }

func (c inProcess) read() ([]byte, url.Values, error) { return c.body, c.query, nil }

// key returns the key with the fingerprint that the same call has over HTTP.
func (c inProcess) key(raw []byte) (key string, fingerprint [32]byte, err error) {
	if len(c.keys) == 0 || c.method == http.MethodGet {
		return "", fingerprint, nil
	}
	if key, err = gate.Key("Idempotency-Key", c.keys); err != nil {
		return "", fingerprint, err
	}
	address := "/v1" + c.route.path
	for name, value := range c.inPath {
		address = strings.Replace(address, "{"+name+"}", url.PathEscape(value), 1)
	}
	return key, gate.Fingerprint(c.method, address, raw, ""), nil
}

func (inProcess) ifMatch(func(any) any) func(any) bool { return nil }

// Inside returns the function with which package mcp calls an operation of /v1, or one of transitions, without HTTP. ctx holds the
// principal, whom the caller has authenticated. params are the parameters of the path and of the query, body is the JSON of the
// fields, and keys are the values of the header Idempotency-Key. The answer and the error are those of /v1.
func (s *Server) Inside() func(ctx context.Context, o *op.Info, params url.Values, body []byte, keys []string) (*op.Answer, error) {
	rows := map[*op.Info]*route{}
	for _, rt := range slices.Concat(routes, transitions) {
		rows[rt.op] = &rt
	}
	return func(ctx context.Context, o *op.Info, params url.Values, body []byte, keys []string) (*op.Answer, error) {
		rt, ok := rows[o]
		if !ok {
			return nil, fmt.Errorf("/v1 has no %s", o.Name)
		}
		c := inProcess{route: rt, inPath: map[string]string{}, query: maps.Clone(params), body: body, keys: keys}
		for _, p := range o.Input.Params {
			if p.In == "path" {
				c.inPath[p.Name] = params.Get(p.Name)
				delete(c.query, p.Name)
			}
		}
		ctx, cancel := context.WithTimeout(ctx, gate.MaxCall)
		defer cancel()
		return rt.call(ctx, s.engine, c)
	}
}
