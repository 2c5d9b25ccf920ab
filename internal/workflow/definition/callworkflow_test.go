package definition

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCallWorkflowConfig(t *testing.T) {
	t.Parallel()
	const config = "definition.phases[p].config"
	refused(t, with(CallWorkflow, Next), []fault{
		{"nothing", `{}`, []string{config + ".workflowId: Is required."}},
		{"another key", `{"workflowId":"wf_1","version":1}`, []string{config + ".version: Is not a known field."}},
		{"no list of input", `{"workflowId":"wf_1","input":[]}`, []string{config + ".input: Must be an object, not a list."}},
		{"a name", `{"workflowId":"wf_1","input":{"two words":1}}`, []string{config + ".input.two words: Is not a variable's name: it takes letters, digits and _."}},
		{"a secret", `{"workflowId":"wf_1","input":{"a":"${secrets.A}"}}`, []string{config + ".input.a: Secrets may be used only in templates of API_CALL and WEBHOOK_CALLOUT: secrets.A."}},
		{"wait", `{"workflowId":"wf_1","wait":"no"}`, []string{config + ".wait: Must be true or false, not a string."}},
	})
	d := accepted(t, with(CallWorkflow, Next)(`{"workflowId":"wf_1","input":{"a":"${request.title}","b":{"c":[1.50,"${phases.p.x}"]}},"wait":false}`))
	require.NoError(t, held(t, with(CallWorkflow, Next)(`{"workflowId":"wf_1","input":{"a":1},"wait":null}`)))
	require.Error(t, held(t, with(CallWorkflow, Next)(`{"input":{}}`)))
	c := d.Phase("p").Calls
	require.False(t, c.Wait)
	require.Equal(t, []Reference{{ID: "wf_1", Field: config + ".workflowId"}}, d.References().Workflows)
	got, err := c.Eval(context.Background(), Vars{Request: map[string]any{"title": "T"}, Phases: map[string]any{"p": map[string]any{"x": json.Number("2.0")}}}.Bind())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"a": "T", "b": map[string]any{"c": []any{json.Number("1.50"), json.Number("2.0")}}}, got)
	c = accepted(t, with(CallWorkflow, Next)(`{"workflowId":"wf_1","input":{"b":"${phases.p.x * 2}"}}`)).Phase("p").Calls
	_, err = c.Eval(context.Background(), Vars{Request: map[string]any{"title": "T"}}.Bind())
	require.ErrorContains(t, err, "b: ")
}

// Loops of definitions and mappings from before there was the variable input may use its name.
func TestInputIsReadInDefinitionsAlone(t *testing.T) {
	t.Parallel()
	accepted(t, with(Data, Next)(`{"kind":"enrich","set":{"a":"input.x","b":"[1].map(input, input + 1)","c":"has(input.y)"}}`))
	for source, ok := range map[string]bool{`input.x == 1`: false, `[1].exists(input, input == 1)`: true, `[1].exists(x, input.x == x)`: false} {
		_, rows := ParseCondition(context.Background(), "when", source)
		require.Equal(t, ok, len(rows) == 0, "%s: %v", source, rows)
		_, rows = ParseCallCondition(context.Background(), "when", source)
		require.Equal(t, ok, len(rows) == 0, "%s: %v", source, rows)
	}
}
