package webhook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"atrium/internal/op/events"
	"atrium/internal/webhook"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestAsyncAPIDocument(t *testing.T) {
	t.Parallel()
	doc, err := webhook.AsyncAPI("https://atrium.example")
	require.NoError(t, err)
	golden := filepath.Join("testdata", "asyncapi.json")
	if *update {
		require.NoError(t, os.WriteFile(golden, doc, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(doc), "run: go test ./internal/webhook -run AsyncAPI -update")
}

// schemaOf compiles the document's schema of a body.
func schemaOf(t *testing.T, doc any, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("asyncapi.json", doc))
	s, err := c.Compile("asyncapi.json#/components/schemas/" + name)
	require.NoError(t, err)
	return s
}

// Payloads match the document: each event's example fits its own schema, and no other.
func TestPayloadsFitTheDocument(t *testing.T) {
	t.Parallel()
	raw, err := webhook.AsyncAPI("https://atrium.example")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	for _, k := range events.All {
		noun, verb, _ := strings.Cut(k.Name, ".")
		schema := schemaOf(t, doc, noun+strings.ToUpper(verb[:1])+verb[1:])
		for _, other := range events.All {
			payload, err := other.Sample()
			require.NoError(t, err)
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(payload))
			require.NoError(t, err)
			if other.Name == k.Name {
				require.NoError(t, schema.Validate(value), k.Name)
			} else {
				require.Error(t, schema.Validate(value), "%s as %s", other.Name, k.Name)
			}
		}
		var broken map[string]any
		payload, err := k.Sample()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(payload, &broken))
		delete(broken["data"].(map[string]any), "id")
		require.Error(t, schema.Validate(broken), "an id that is missing")
	}
}

// Every reference in the document can be resolved in it.
func TestReferencesOfTheDocument(t *testing.T) {
	t.Parallel()
	raw, err := webhook.AsyncAPI("https://atrium.example")
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(raw, &doc))
	refs := 0
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				refs++
				at := doc
				for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
					at = at.(map[string]any)[part]
				}
				require.NotNil(t, at, ref)
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
	walk(doc)
	require.Greater(t, refs, 40)
}
