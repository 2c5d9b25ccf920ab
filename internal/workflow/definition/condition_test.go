package definition

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConditionsReadTheRequestAlone(t *testing.T) {
	t.Parallel()
	for source, says := range map[string]string{
		`webhook.body.a == 1`:       "request alone, not webhook",
		`secrets.A == "x"`:          "request alone, not secrets",
		`phases.a.b`:                "request alone, not phases",
		`request.title`:             "must give a bool",
		`request.titel == "x"`:      "undefined field",
		`[1].all(request, true)`:    "may not be called request",
		`request.title == "x" && (`: "line 1",
	} {
		_, rows := ParseCondition(t.Context(), "when", source)
		require.NotEmpty(t, rows, source)
		require.Equal(t, "when", rows[0].Field)
		require.Contains(t, rows[0].Message, says)
	}
	for source, costly := range map[string]bool{
		`request.priority == "HIGH"`: false, `request.fields.list.exists(x, x == 1)`: true, `request.title.matches("a+")`: true,
		`base64.encode(b"x") == request.title`: true, `request.title.contains("a") || request.fields.n > 3`: false, `fold(request.title) == fold("a")`: true,
	} {
		c, rows := ParseCondition(t.Context(), "when", source)
		require.Empty(t, rows)
		require.Equal(t, costly, c.Costly(), source)
	}
}

func TestConditionsThatCannotBeEvaluatedDoNotHold(t *testing.T) {
	t.Parallel()
	c, rows := ParseCondition(t.Context(), "when", `request.fields.model == "x"`)
	require.Empty(t, rows)
	require.False(t, c.Holds(t.Context(), Vars{Request: map[string]any{"fields": map[string]any{}}}.Bind()))
	require.True(t, c.Holds(t.Context(), Vars{Request: map[string]any{"fields": map[string]any{"model": "x"}}}.Bind()))
}

// BenchmarkConditions is 50 of them on one request.
func BenchmarkConditions(b *testing.B) {
	var all []*Condition
	for i := range 50 {
		c, rows := ParseCondition(b.Context(), "when", fmt.Sprintf(`request.title.contains("%d") && request.priority == "URGENT"`, i))
		require.Empty(b, rows)
		all = append(all, c)
	}
	request := map[string]any{"title": "A laptop", "priority": "LOW", "fields": map[string]any{}}
	b.ReportAllocs()
	for b.Loop() {
		bound := Vars{Request: request}.Bind()
		for _, c := range all {
			c.Holds(b.Context(), bound)
		}
	}
}
