package main_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aModel starts a fake language model that assigns every request to the first team in the prompt, and returns its URL.
func aModel(t *testing.T) string {
	t.Helper()
	team := regexp.MustCompile(`team_[0-9a-z]{26}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Messages []struct{ Role, Content string }
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		assert.Equal(t, "/v1/chat/completions", r.URL.Path)
		calls := []any{}
		if last := asked.Messages[len(asked.Messages)-1]; last.Role == "user" {
			arguments, err := json.Marshal(map[string]any{"teamId": team.FindString(last.Content), "priority": "URGENT", "rationale": "They know about it.", "confidence": 0.8})
			assert.NoError(t, err)
			calls = append(calls, map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": "updateRequest", "arguments": string(arguments)}})
		}
		assert.NoError(t, json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": "", "tool_calls": calls}}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
		}))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// tryModel gives the demo company's agent a model and publishes it after a dry run.
func tryModel(t *testing.T, r *readme, block string) {
	owner := r.token(r.first.Company.ID, r.first.Owner.Email)
	found, err := json.Marshal(r.graphQL(owner, `{ agents { edges { node { id } } } requests(first: 1, filter: {status: [PENDING]}) { edges { node { id } } } }`, nil))
	require.NoError(t, err)
	block = strings.NewReplacer("agt_…", regexp.MustCompile(`agt_[0-9a-z]{26}`).FindString(string(found)),
		"req_…", regexp.MustCompile(`req_[0-9a-z]{26}`).FindString(string(found))).Replace(strings.TrimPrefix(block, "graphql"))
	for _, mutation := range strings.Split(block, "\nmutation")[1:] {
		out, err := json.Marshal(r.graphQL(owner, "mutation"+mutation, nil))
		require.NoError(t, err)
		if strings.Contains(mutation, "testAgent") {
			require.Contains(t, string(out), `"operation":"updateRequest"`)
			require.Contains(t, string(out), `"status":"PROPOSED"`)
		}
	}
}
