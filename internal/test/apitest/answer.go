package apitest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answer is an HTTP response with its whole body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	tb testing.TB
}

// RequestID is the answer's X-Request-Id.
func (a *Answer) RequestID() string { return a.Header.Get("X-Request-Id") }

// ETag is the answer's entity tag.
func (a *Answer) ETag() string { return a.Header.Get("ETag") }

// Get returns the value at a path of the body's JSON ("data.0.name"); nil when there is none.
func (a *Answer) Get(path string) any {
	a.tb.Helper()
	v, ok := At(a.JSON(), path)
	if !ok {
		return nil
	}
	return v
}

// Has reports whether the body's JSON has something at the path, null included.
func (a *Answer) Has(path string) bool {
	_, ok := At(a.JSON(), path)
	return ok
}

// Text returns the string at a path; "" when there is none.
func (a *Answer) Text(path string) string {
	a.tb.Helper()
	s, _ := a.Get(path).(string)
	return s
}

// Int returns the whole number at a path; -1 when there is none.
func (a *Answer) Int(path string) int {
	a.tb.Helper()
	n, ok := a.Get(path).(float64)
	if !ok {
		return -1
	}
	return int(n)
}

// ID returns data.id.
func (a *Answer) ID() string { return a.Text("data.id") }

// Column returns the values at a path in the rows of a list.
func (a *Answer) Column(path string) []any {
	a.tb.Helper()
	rows, ok := a.Get("data").([]any)
	require.True(a.tb, ok, "not a list: %s", a.Body)
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i], _ = At(row, path)
	}
	return out
}

// JSON returns the decoded body; the test fails if it is not JSON.
func (a *Answer) JSON() any {
	a.tb.Helper()
	var v any
	require.NoError(a.tb, json.Unmarshal(a.Body, &v), "%d: %s", a.Status, a.Body)
	return v
}

// Fields returns the fields that the details of an error name, each once.
func (a *Answer) Fields() []string {
	a.tb.Helper()
	details, _ := a.Get("details").([]any)
	seen := map[string]bool{}
	var out []string
	for _, d := range details {
		field, _ := At(d, "field")
		if s, _ := field.(string); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// Plain returns status and body, without what differs from call to call (the ids of the request and the decision).
func (a *Answer) Plain() string {
	body := string(a.Body)
	for _, prefix := range []string{"dec_", "rid_"} {
		for {
			i := strings.Index(body, prefix)
			if i < 0 || len(body) < i+len(prefix)+26 {
				break
			}
			body = body[:i] + "*" + body[i+len(prefix)+26:]
		}
	}
	return strconv.Itoa(a.Status) + " " + body
}

// At returns the value at a path of keys and indexes in a decoded JSON value; false if there is none.
func At(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}
