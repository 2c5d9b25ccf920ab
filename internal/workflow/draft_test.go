package workflow

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// smallest is a definition that runs through.
const smallest = `{"phases":[{"id":"start","type":"START"},{"id":"end","type":"END"}],"transitions":[{"from":"start","name":"next","to":"end"}]}`

// TestAsSentUndoesTheEncoder stores texts the way Ent does.
func TestAsSentUndoesTheEncoder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`,
		`{"b":1.0,"a":1e2,"z":[0.10,-0]}`,
		`{"when":"a < b && c > d","sep":"` + "\u2028\u2029" + `"}`,
		`{"backslash":"\\u003c","quote":"\"\\\\u0026\\","unicode":"\u00e9é"}`,
		`{"upper":"\u003C"}`,
	} {
		stored, err := json.Marshal(json.RawMessage(text))
		require.NoError(t, err)
		require.Equal(t, text, string(AsSent(stored)))
	}
	require.JSONEq(t, `{"a":"<"}`, string(AsSent(json.RawMessage(`{"a":"\u003c"}`))))
	require.Equal(t, `"\u00`, string(AsSent(json.RawMessage(`"\u00`))), "half an escape is left alone")
	require.Equal(t, `"\`, string(AsSent(json.RawMessage(`"\`))))
}

func FuzzAsSent(f *testing.F) {
	f.Add(`{"a":"<\\u003c\u003c&"}`)
	f.Fuzz(func(t *testing.T, text string) {
		stored, err := json.Marshal(json.RawMessage(text))
		if err != nil {
			return // no JSON
		}
		sent := AsSent(stored)
		again, err := json.Marshal(sent)
		require.NoError(t, err)
		require.JSONEq(t, text, string(sent))
		require.Equal(t, string(stored), string(again))
		require.Equal(t, string(sent), string(AsSent(again)), "an ETag must not change between the answer of a write and a read")
	})
}

func TestDefinitionIsAnObject(t *testing.T) {
	t.Parallel()
	for _, d := range []string{`null`, `[]`, `"{}"`, `1`, `{}`, `{"phases":[],"transitions":[]}`} {
		in, err := CreateWorkflow.Decode([]byte(`{"name":"W","definition":`+d+`}`), nil, nil)
		if err == nil {
			_, faults := definition.Parse(in.Definition.sent)
			require.NotEmpty(t, faults, d)
			continue
		}
		require.Equal(t, "definition", apperr.From(err).Details[0].Field, d)
	}
	_, err := CreateWorkflow.Decode([]byte(`{"name":"W"}`), nil, nil)
	require.Equal(t, []apperr.Detail{{Field: "definition", Message: "Is required."}}, apperr.From(err).Details)
	_, err = UpdateWorkflow.Decode([]byte(`{"definition":null}`), func(string) string { return "wf_1" }, nil)
	require.Equal(t, []apperr.Detail{{Field: "definition", Message: "Must not be null."}}, apperr.From(err).Details)
}

func TestDefinitionKeepsItsText(t *testing.T) {
	t.Parallel()
	in, err := UpdateWorkflow.Decode([]byte("{\"definition\": \n"+strings.ReplaceAll(smallest, ",", ",  ")+"}"), func(string) string { return "wf_1" }, nil)
	require.NoError(t, err)
	d, ok := op.Given(in.Definition)
	require.True(t, ok)
	require.Equal(t, smallest, string(d.text))
	parsed, _ := definition.Parse(d.sent)
	require.NotNil(t, parsed)
}
