package definition

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// held returns what the schema has against a definition.
func held(t require.TestingT, raw string) error {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("https://atrium.invalid/definition.json", schema))
	s, err := c.Compile("https://atrium.invalid/definition.json")
	require.NoError(t, err)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(raw)))
	require.NoError(t, err)
	return s.Validate(v)
}

// The schema knows every key that the parser knows, and no other.
func TestSchemaKnowsTheParsersKeys(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, file := range []string{"apicall.go", "approval.go", "block.go", "callout.go", "callworkflow.go", "data.go", "decision.go", "graph.go", "parse.go", "phase.go", "process.go", "shows.go", "timer.go"} {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`(?s)\.keys\(.*?\)\n`).FindAllString(string(source), -1) {
			for _, key := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(call, -1) {
				known[key[1]] = true
			}
		}
	}
	for _, field := range []string{"key", "label", "required", "help", "options", "min", "pattern", "accept", "maxFiles", "visibleWhen"} {
		delete(known, field) // of forms, which have a schema of their own
	}
	told := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for key := range properties {
					told[key] = true
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	var schema any
	require.NoError(t, json.Unmarshal(Schema(), &schema))
	walk(schema)
	require.Equal(t, known, told)
}

func TestSchemaRefusesWhatIsNoDefinition(t *testing.T) {
	t.Parallel()
	require.NoError(t, held(t, graphOf("s>e")))
	for _, raw := range []string{
		`{}`, `[]`, `{"phases":[],"transitions":[]}`, `{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[],"more":1}`,
		`{"phases":[{"id":"s","type":"BEGIN"},{"id":"e","type":"END"}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"T","type":"END"}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"t","type":"TIMER"}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"t","type":"TIMER","config":{"duration":"1h","until":"x"}}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"t","type":"API_CALL","config":{"method":"GET","url":"http://a.example"}}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"t","type":"APPROVAL","config":{"approvers":[],"mode":"any"}}],"transitions":[]}`,
		`{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","to":"e"}]}`,
	} {
		require.Error(t, held(t, raw), raw)
		_, rows := Parse([]byte(raw))
		require.NotEmpty(t, rows, "the parser takes what the schema refuses: %s", raw)
	}
}
