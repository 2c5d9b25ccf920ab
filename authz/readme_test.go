package authz_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/authz"
)

// Every example in the policies' README is a valid policy.
func TestExamplesOfTheReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../policies/README.md")
	require.NoError(t, err)
	e := engine(t)
	seen := 0
	for i, block := range strings.Split(string(text), "```json\n") {
		if i == 0 {
			continue
		}
		block, _, _ = strings.Cut(block, "```")
		dec := json.NewDecoder(strings.NewReader(block))
		for {
			var p struct {
				Effect, Action, Resource string
				Condition                json.RawMessage
			}
			err := dec.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, block)
			_, err = e.Compile(t.Context(), authz.Policy{Effect: p.Effect, Action: p.Action, Resource: p.Resource, Condition: p.Condition})
			require.NoError(t, err, block)
			seen++
		}
	}
	require.Greater(t, seen, 10)
}

// The module that the README shows is the one that its policies become.
func TestRegoOfTheReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../policies/README.md")
	require.NoError(t, err)
	_, want, found := strings.Cut(string(text), "```rego\n")
	require.True(t, found)
	want, _, _ = strings.Cut(want, "```")
	set := setOf(t, engine(t), `Deny update Service {"resource.ownerTeamId": {"nin": "${principal.teamIds}"}}`,
		`Deny update Service {"resource.ownerTeamId": {"exists": false}, "principal.role": {"ne": "admin"}}`,
		`Deny * * {"resource.tags.region": {"ne": "${principal.attributes.region}"}}`,
		`Deny * Service {"resource.name": {"glob": "*-prod"}}`, `Allow * * {}`, `Deny read Service {}`, `Deny update Request {}`)
	got, err := authz.Rego(set, "update", "Service")
	require.NoError(t, err)
	require.Equal(t, want, got)
}
