package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/agent/model"
)

// answering answers every call with one text, and keeps what it was asked.
type answering struct{ asked map[string]any }

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := json.NewDecoder(r.Body).Decode(&a.asked); err != nil {
		return nil, err
	}
	body := `{"choices": [{"message": {"content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "request", "arguments": "{\"id\": \"req_0123456789\"}"}}]}}]}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// OpenAI's models have another name for the limit of an answer and take no temperature; all other servers get those that they know.
func TestLimits(t *testing.T) {
	t.Parallel()
	for address, own := range map[string]bool{
		"https://api.openai.com/v1": true, "https://acme.openai.azure.com/openai/v1": true,
		"http://127.0.0.1:11434/v1": false, "https://models.example.com/v1/": false, "https://api.openai.com.example.com/v1": false,
	} {
		a := &answering{}
		got, err := model.Endpoint{URL: address, Model: "m", HTTP: &http.Client{Transport: a}}.Ask(t.Context(), []model.Message{{Role: model.Data, Content: "x"}}, nil, 100)
		require.NoError(t, err, address)
		require.Equal(t, own, a.asked["max_completion_tokens"] != nil, address)
		require.Equal(t, !own, a.asked["max_tokens"] != nil && a.asked["temperature"] != nil, address)
		require.Equal(t, 8, got.OutputTokens, "without counts of the server, what it wrote as arguments counts, too")
	}
}
