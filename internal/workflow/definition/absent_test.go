package definition

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/stretchr/testify/require"
)

// openMembers returns a member of everything that expressions read and whose keys are not declared, with its type: request.fields.x,
// webhook.body.x.y, phases.p. Secrets are apart: one that is not there is an error.
func openMembers() map[string]*cel.Type {
	out := map[string]*cel.Type{"input.x": cel.DynType, "phases.p": cel.DynType, "phases.p.x": cel.DynType}
	for _, variable := range variables {
		for field, of := range structs["("+variable+")"] {
			switch name := variable + "." + field; of.Kind() {
			case types.DynKind:
				out[name], out[name+".x"], out[name+".x.y"] = of, of, of
			case types.MapKind:
				out[name+".x"] = of.Parameters()[1]
			case types.StructKind:
				out[name+".state"] = nullableString
			}
		}
	}
	return out
}

// lacking returns variables in which a member is absent or null, or what it is a member of.
func lacking(path []string) (out []Vars) {
	for depth := 1; depth <= len(path); depth++ {
		for _, null := range []bool{false, true} {
			at := map[string]any{}
			all := at
			for _, name := range path[:depth-1] {
				next := map[string]any{}
				at[name], at = next, next
			}
			if null {
				at[path[depth-1]] = nil
			}
			part := func(name string) map[string]any { m, _ := all[name].(map[string]any); return m }
			out = append(out, Vars{Request: part("request"), Webhook: part("webhook"), Input: part("input"), Phases: part("phases"), Response: part("response")})
		}
	}
	return out
}

// What is not there is null, whatever it is read of and however far above it something is missing. A comparison with it is false and no
// error, in definitions, in answers of calls, in mappings and in conditions alike.
func TestAbsentIsNull(t *testing.T) {
	t.Parallel()
	members := openMembers()
	for _, name := range []string{
		"request.fields.x", "request.tags.x", "request.sla.state", "webhook.body", "webhook.body.x", "webhook.body.x.y", "webhook.headers.x", "input.x", "phases.p", "phases.p.x",
		"response.body", "response.body.x", "response.headers.x",
	} {
		require.Contains(t, members, name)
	}
	for name, of := range members {
		three := "3"
		if of.Kind() != types.DynKind {
			three = `"3"`
		}
		cases := map[string]bool{
			name + " == null": true, name + " != null": false, "has(" + name + ")": false,
			name + ` == "x"`: false, name + ` != "x"`: true, name + ` in ["x"]`: false, name + " > " + three: false, name + " <= " + three: false,
		}
		if of.Kind() == types.DynKind {
			cases[name] = false // such as a yes-or-no question that nobody has answered
			cases[name+" == 3"], cases[`"x" in `+name], cases[name+`["a" + "b"] == null`], cases[name+".?z.hasValue()"] = false, false, true, false
		}
		for source, want := range cases {
			e, fault := Check(t.Context(), InResponse, source, []string{"p"}, true)
			require.Nil(t, fault, source)
			for _, vars := range lacking(strings.Split(name, ".")) {
				got, err := e.Bool(t.Context(), vars.Bind())
				require.NoError(t, err, "%s on %+v", source, vars)
				require.Equal(t, want, got, "%s on %+v", source, vars)
				require.Equal(t, want, holds(t, source, vars, want), "%s as a condition on %+v", source, vars)
			}
		}
	}
}

// holds evaluates a condition of a rule, a filter or an inbound webhook; unread for what those do not read.
func holds(t *testing.T, source string, vars Vars, unread bool) bool {
	t.Helper()
	parse := ParseCondition
	switch {
	case strings.Contains(source, "webhook."):
		parse = ParseCallCondition
	case !strings.Contains(source, "request."):
		return unread
	}
	c, rows := parse(t.Context(), "when", source)
	require.Empty(t, rows, source)
	return c.Holds(t.Context(), vars.Bind())
}

// Keys that are computed, members of what a loop goes through and of what an expression makes itself are null as well.
func TestAbsentWithinExpressions(t *testing.T) {
	t.Parallel()
	for _, body := range []map[string]any{
		{"n": 1.0, "list": []any{map[string]any{"a": 1.0}, map[string]any{}}, "of": map[string]any{}},
		{"n": 1.0, "list": []any{map[string]any{"a": 1.0}, map[string]any{"a": nil}}, "of": map[string]any{"b": nil}, "gone": nil},
	} {
		b := Vars{Webhook: map[string]any{"body": body}, Request: map[string]any{"waiting": true}}.Bind()
		for source, want := range map[string]any{
			`webhook.body.list.map(i, i.a)`: []any{1.0, nil}, `webhook.body.list.exists(i, i.a > 0)`: true, `webhook.body.list.filter(i, i.a == null).size()`: int64(1),
			`webhook.body.list.all(i, has(i.a))`: false, `webhook.body.list[1].a`: nil, `webhook.body.gone[0]`: nil, `webhook.body[webhook.body.gone]`: nil,
			`{"high": "HIGH"}[webhook.body.gone] == "HIGH"`: false, `{"high": "HIGH"}[?webhook.body.gone].orValue("LOW")`: "LOW", `webhook.body.of.?b.orValue("none")`: "none",
			`webhook.body.?gone.?x.hasValue()`: false, `"b" in webhook.body.of`: false, `"n" in webhook.body`: true, `(request.waiting ? webhook.body : request.fields).gone == null`: true,
			`webhook.body["go" + "ne"] > 3`: false, `webhook.body.of.b == webhook.body.gone`: true, `!(webhook.body.gone > 3)`: true, `"${" + "x"`: "${x",
			strings.Repeat("webhook.body[", 12) + "webhook.body.gone" + strings.Repeat("]", 12): nil, // each key is looked up once
		} {
			got, err := exprOf(t, source).Value(t.Context(), b)
			require.NoError(t, err, source)
			require.Equal(t, want, got, source)
		}
		for source, says := range map[string]string{
			`webhook.body.gone * 2`: "not given: webhook.body.gone", `webhook.body.of.b.startsWith("x")`: "not given: webhook.body.of.b",
			`webhook.body.list[webhook.body.gone]`: "not given: webhook.body.gone", `webhook.headers.x-a.startsWith(webhook.body.gone)`: "not given: webhook.headers.x-a, webhook.body.gone",
			`webhook.body.n.x`: "no such key: x", `webhook.body.list[2]`: "index out of bounds: 2",
		} {
			_, err := exprOf(t, source).Value(t.Context(), b)
			require.ErrorContains(t, err, says, source)
		}
	}
}

// A secret that is not there is no empty text in a header.
func TestAbsentSecretsAreErrors(t *testing.T) {
	t.Parallel()
	template := accepted(t, callBody(`Bearer ${secrets.GONE}${secrets["TOKEN"]}`)).Phase("p").APICall.Body
	_, err := template.Eval(t.Context(), bound())
	require.ErrorContains(t, err, "no such key: GONE")
}

// Functions of texts take whole numbers, and numbers of forms and bodies are doubles.
func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	b := Vars{Webhook: map[string]any{"body": map[string]any{"n": 2.0, "one": 1.0, "half": 0.5, "at": 1767225600.0}}, Request: map[string]any{"fields": map[string]any{"n": 2.0}}}.Bind()
	for source, want := range map[string]any{
		`"Größe".substring(0, request.fields.n)`: "Gr", `"Größe".substring(webhook.body.one, webhook.body.n)`: "r", `"Größe".substring(webhook.body.n)`: "öße",
		`"Größe".substring(0, webhook.body.n + 1)`: "Grö", `"Größe".substring(0, 2.0)`: "Gr", `"Größe".charAt(webhook.body.half * 4)`: "ö", `"abab".indexOf("a", webhook.body.one)`: int64(2),
		`"abab".lastIndexOf("a", webhook.body.one)`: int64(0), `"aaa".replace("a", "b", webhook.body.n)`: "bba", `"a,a,a".split(",", webhook.body.n)`: []any{"a", "a,a"},
		`timestamp(webhook.body.at)`: "2026-01-01T00:00:00.000Z", `timestamp(0)`: "1970-01-01T00:00:00.000Z", `"Größe".substring(1, 2)`: "r",
	} {
		got, err := exprOf(t, source).Value(t.Context(), b)
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
	for source, says := range map[string]string{
		`"a".substring(0, webhook.body.half)`: "0.5 is no whole number", `timestamp(webhook.body.half)`: "whole seconds, not 0.5", `"a".charAt(webhook.body.gone)`: "not given: webhook.body.gone",
	} {
		_, err := exprOf(t, source).Value(t.Context(), b)
		require.ErrorContains(t, err, says, source)
	}
	_, fault := Check(t.Context(), InWorkflow, `request.title.substring(0, "x")`, nil, false)
	require.NotNil(t, fault)
	require.Contains(t, fault.Message, "found no matching overload for a whole number applied to '(string)'")
}
