package definition

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compiled returns the expression of a phase that keeps what it gives.
func compiled(t testing.TB, expression string) *Expr {
	t.Helper()
	return accepted(t, enrich(expression)).Phase("p").Data.Set[0].Value
}

// large are variables as long as a caller can make them.
func large() Bound {
	numbers, texts := make([]any, 200_000), map[string]any{}
	for i := range numbers {
		numbers[i] = 1.0
	}
	for i := range 1_000 {
		texts[fmt.Sprint("k", i)] = strings.Repeat("ab", 500)
	}
	return Vars{
		Request: map[string]any{"title": strings.Repeat("a", 1<<20), "fields": map[string]any{"n": numbers, "m": texts, "s": numbers[:1000]}},
		Webhook: map[string]any{"body": map[string]any{"pattern": "(?:.*.*a.*){60}c", "text": strings.Repeat("ab", 500_000), "list": numbers}},
	}.Bind()
}

// worst are expressions that took seconds, gigabytes, or for ever.
var worst = map[string]string{
	"equality of lists":       strings.Repeat("request.fields.n == webhook.body.list && ", 50) + "true",
	"equality in loops":       "request.fields.s.all(a, request.fields.s.all(b, request.fields.n == webhook.body.list))",
	"equality of what grew":   "[request.fields.n].map(a, [a,a,a,a,a,a,a,a,a,a]).map(b, [b,b,b,b,b,b,b,b,b,b]).all(d, d == d)",
	"a value that grew":       "[request.fields.s].map(a, [a,a,a,a,a,a,a,a,a,a]).map(b, [b,b,b,b,b,b,b,b,b,b]).map(c, [c,c,c,c,c,c,c,c,c,c])",
	"lists that are joined":   strings.Repeat("request.fields.n + ", 30) + "request.fields.n",
	"membership":              strings.Repeat("request.fields.n in [webhook.body.list] && ", 50) + "true",
	"a constant pattern":      "request.title.matches('(?:.*.*a.*){60}c')",
	"a pattern that is given": "webhook.body.text.matches(webhook.body.pattern)",
	"a pattern in loops":      "request.fields.s.all(a, !('" + strings.Repeat("a", 300) + "').matches('(?:.*.*a.*){60}c'))",
	"three loops":             "request.fields.s.all(a, request.fields.s.all(b, request.fields.s.all(c, a == c)))",
	"texts that grow":         "[request.title].map(a, a+a+a+a+a+a+a+a)",
	"a long text":             "request.title + request.title",
}

// Whatever a customer writes ends within its bounds, with an error.
func TestWorstExpressionsEnd(t *testing.T) {
	b := large()
	for name, expression := range worst {
		t.Run(name, func(t *testing.T) {
			_, err := compiled(t, expression).Value(context.Background(), b)
			require.Error(t, err)
		})
	}
}

func TestPatternsAreBoundedWhenSaved(t *testing.T) {
	for _, pattern := range []string{"((a{10}){10}){10}", strings.Repeat("a", maxPattern+1)} {
		d, rows := Parse([]byte(enrich("request.title.matches('" + pattern + "')")))
		assert.Nil(t, d)
		require.Len(t, rows, 1)
		assert.Equal(t, "definition.phases[p].config.set.x", rows[0].Field)
	}
}

// The evaluations of a step end together.
func TestBudget(t *testing.T) {
	ctx, budget := WithBudget(context.Background(), 2*maxEval)
	e := compiled(t, worst["three loops"])
	for range 3 {
		_, err := e.Value(ctx, large())
		require.ErrorIs(t, err, errTooLong)
	}
	assert.True(t, budget.Over)
	assert.True(t, Spent(ctx))
}

// What people write is not met by the bounds.
func TestOrdinaryExpressionsAreWithinTheBounds(t *testing.T) {
	items := make([]any, 1_000)
	for i := range items {
		items[i] = map[string]any{"name": fmt.Sprint("item ", i), "price": float64(i)}
	}
	b := Vars{Request: map[string]any{"title": strings.Repeat("x ", 2_000) + "end", "fields": map[string]any{"items": items}}}.Bind()
	for expression, want := range map[string]any{
		"size(request.fields.items.filter(i, i.price >= 500.0).map(i, i.name))": int64(500),
		"request.title.matches('(?i)END$')":                                     true,
		"request.fields.items == request.fields.items":                          true,
		"request.fields.items.map(i, i.price) + [1.0, 2.0] != []":               true,
		"2.0 in request.fields.items.map(i, i.price)":                           true,
		"[1, 2] + [3]": []any{int64(1), int64(2), int64(3)},
	} {
		v, err := compiled(t, expression).Value(context.Background(), b)
		require.NoError(t, err, expression)
		assert.Equal(t, want, v, expression)
	}
}

// The values of one definition are bounded together.
func TestBodiesAreBoundedTogether(t *testing.T) {
	body := make([]string, 200)
	for i := range body {
		body[i] = `"${request.description}"`
	}
	d := accepted(t, with(APICall, "next")(`{"method":"POST","url":"https://a.example","body":[`+strings.Join(body, ",")+`]}`))
	_, err := d.Phase("p").APICall.Body.Eval(context.Background(), Vars{Request: map[string]any{"description": strings.Repeat("a", 10_000)}}.Bind())
	require.ErrorIs(t, err, errTooMuch)
}

func BenchmarkWorst(b *testing.B) {
	vars := large()
	for name, expression := range worst {
		e := compiled(b, expression)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := e.Value(b.Context(), vars); err == nil {
					b.Fatal("it ended well")
				}
			}
		})
	}
}

// The dearest match that is let through.
func BenchmarkWorstMatch(b *testing.B) {
	m, err := newMatcher("(?:.*.*a.*){60}c")
	require.NoError(b, err)
	text := strings.Repeat("ab", maxMatch/m.size/2)
	for b.Loop() {
		m.re.MatchString(text)
	}
}
