package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// BenchmarkWithoutBlocks runs executions of 20 phases and no blocks: of phases that compute, in a single step, and of tasks, each of which
// is completed on the state as a database keeps it.
func BenchmarkWithoutBlocks(b *testing.B) {
	for name, kind := range map[string]string{"computed": `"type":"DATA","config":{"kind":"enrich","set":{"v":"request.fields.n"}}`, "tasks": `"type":"PROCESS"`} {
		b.Run(name, func(b *testing.B) {
			phases, transitions := []string{`{"id":"s","type":"START"}`}, []string{`{"from":"s","name":"next","to":"p0"}`}
			for i := range 18 {
				phases = append(phases, fmt.Sprintf(`{"id":"p%d",%s}`, i, kind))
				transitions = append(transitions, fmt.Sprintf(`{"from":"p%d","name":"next","to":"p%d"}`, i, i+1))
			}
			phases = append(phases, `{"id":"p18","type":"END"}`)
			d, faults := definition.Parse(fmt.Appendf(nil, `{"phases":[%s],"transitions":[%s]}`, strings.Join(phases, ","), strings.Join(transitions, ",")))
			require.Empty(b, faults)
			env := engine.Env{Now: noon, ExecutionID: "exe_1", Request: map[string]any{"title": "T", "fields": map[string]any{"n": 4.0}}}
			b.ReportAllocs()
			for b.Loop() {
				res, err := engine.Step(b.Context(), d, engine.State{}, engine.Begin{}, env)
				for err == nil && !res.State.Status.Final() {
					res, err = engine.Step(b.Context(), d, stored(b, res.State), engine.TaskDone{Visit: res.State.Visit.Number}, env)
				}
				require.NoError(b, err)
			}
		})
	}
}
