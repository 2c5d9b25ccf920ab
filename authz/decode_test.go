package authz

import (
	"context"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/stretchr/testify/require"

	"atrium/internal/platform/principal"
)

// An answer of the policies that decode does not understand is an error, and an error comes with the zero decision, which
// refuses.
func TestNotUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"no object":          "yes",
		"nothing":            nil,
		"allow of no type":   map[string]any{"allow": "true", "rows": "all"},
		"unknown rows":       map[string]any{"allow": true, "rows": "some"},
		"no rows":            map[string]any{"allow": true},
		"allowed on no rows": map[string]any{"allow": true, "rows": "none"},
		"not JSON":           func() {},
	} {
		d, err := decode(v)
		require.Error(t, err, name)
		require.Equal(t, Decision{}, d, name)
	}
}

// An evaluation that fails refuses and is not cached: the next question is evaluated again.
func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	for name, module := range map[string]string{
		"undefined": "package atrium.authz\n\nother := 1\n",
		"conflict":  "package atrium.authz\n\ndecision := 1\n\ndecision := 2 if input.role\n",
	} {
		q, err := rego.New(rego.Query("data.atrium.authz.decision"), rego.Module("m.rego", module)).PrepareForEval(t.Context())
		require.NoError(t, err, name)
		e := &Engine{own: &bundle{decision: q}}
		p := &principal.Principal{Role: principal.Owner, Method: principal.MethodSession}
		d, err := e.Decide(t.Context(), p, Question{Verb: "service.read"})
		require.Error(t, err, name)
		require.Equal(t, Decision{}, d, name)
		e.known.Range(func(any, any) bool { require.Fail(t, "an error was kept"); return false })
	}
	e, err := New(t.Context(), Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := &principal.Principal{Role: principal.Owner, Method: principal.MethodSession}
	if d, err := e.Decide(ctx, p, Question{Verb: "service.read"}); err != nil { // cancellation of the caller's context
		require.Equal(t, Decision{}, d)
	}
	d, err := e.Decide(t.Context(), p, Question{Verb: "service.read"})
	require.NoError(t, err)
	require.True(t, d.Allow)
}
