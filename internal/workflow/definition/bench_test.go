package definition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchDefinition returns a definition of 20 phases: START, nine DECISIONs between nine API_CALLs, END.
func benchDefinition() string {
	phases := []string{`{"id":"s","type":"START"}`}
	transitions := []string{`{"from":"s","name":"next","to":"d0"}`}
	for i := range 9 {
		after := fmt.Sprintf("d%d", i+1)
		if i == 8 {
			after = "e"
		}
		phases = append(phases,
			fmt.Sprintf(`{"id":"d%d","type":"DECISION","name":"Choose","config":{"rules":[
				{"when":"request.fields.amount > %d && request.priority in ['HIGH', 'URGENT']","transition":"call"},
				{"when":"has(request.fields.vip) && request.fields.vip","transition":"call"}],"default":"skip"}}`, i, i),
			fmt.Sprintf(`{"id":"c%d","type":"API_CALL","config":{"method":"POST","url":"https://a.example/v1/${request.id}",
				"headers":{"Authorization":"Bearer ${secrets.TOKEN}"},"body":{"title":"${request.title}","n":"${request.fields.amount * 2.0}"},
				"response":{"total":"response.body.total"},"retries":{"max":5}}}`, i))
		transitions = append(transitions,
			fmt.Sprintf(`{"from":"d%d","name":"call","to":"c%d"}`, i, i),
			fmt.Sprintf(`{"from":"d%d","name":"skip","to":%q}`, i, after),
			fmt.Sprintf(`{"from":"c%d","name":"next","to":%q}`, i, after))
	}
	phases = append(phases, `{"id":"e","type":"END"}`)
	return `{"phases":[` + strings.Join(phases, ",") + `],"transitions":[` + strings.Join(transitions, ",") + `]}`
}

func BenchmarkParse20Phases(b *testing.B) {
	raw := []byte(benchDefinition())
	require.Len(b, accepted(b, string(raw)).Phases, 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, rows := Parse(raw); len(rows) > 0 {
			b.Fatal(rows)
		}
	}
}

// BenchmarkParseWorst takes the slowest found that the bounds let through: 64 KiB of nested map literals.
func BenchmarkParseWorst(b *testing.B) {
	template := "${" + strings.Repeat("{1:", 38) + "1" + strings.Repeat("}", 38) + "}"
	raw := []byte(callBody(strings.Repeat(template, 428)))
	b.ReportAllocs()
	for b.Loop() {
		if _, rows := Parse(raw); len(rows) > 0 {
			b.Fatal(rows)
		}
	}
}

func BenchmarkBool(b *testing.B) {
	d := accepted(b, benchDefinition())
	when := d.Phase("d0").Decision.Rules[0].When
	vars := Vars{Request: map[string]any{"priority": "HIGH", "fields": map[string]any{"amount": 5.0}}}.Bind()
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := when.Bool(b.Context(), vars); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}
