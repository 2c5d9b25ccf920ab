package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op/audit"
)

// text is a text as Diff shows it.
func text(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }

func TestDiffMasksSecrets(t *testing.T) {
	t.Parallel()
	before := &ent.Secret{ID: "sec_1", CompanyID: "co_1", Name: "TOKEN", Sealed: []byte("first"), Version: 1}
	after := &ent.Secret{ID: "sec_1", CompanyID: "co_1", Name: "TOKEN", Sealed: []byte("second"), Version: 2}
	changes := audit.Diff(before, after)
	require.Equal(t, audit.Change{From: text("***"), To: text("***")}, changes["value"])
	require.Equal(t, audit.Change{From: 1, To: 2}, changes["version"])
	require.Len(t, changes, 2, "what is the same is left out, as are id, company and times")
	b, err := json.Marshal(audit.Diff(nil, &ent.APIKey{Hash: []byte("hash"), Name: "K"}))
	require.NoError(t, err)
	require.NotContains(t, string(b), "aGFzaA")
	require.Contains(t, string(b), `"***"`)
	require.Equal(t, audit.Change{From: nil, To: text("***")}, audit.Diff(&ent.Account{}, &ent.Account{PasswordHash: "x"})["passwordHash"])
}

func TestDiffBoundsLongValues(t *testing.T) {
	t.Parallel()
	changes := audit.Diff(&ent.Service{Name: "a"}, &ent.Service{Name: "b", Description: strings.Repeat("x", 5000)})
	require.Equal(t, "(5002 bytes)", changes["description"].To)
	require.Nil(t, changes["description"].From)
}

func TestDiffOfOneSide(t *testing.T) {
	t.Parallel()
	team := "team_1"
	s := &ent.Service{Name: "S", OwnerTeamID: &team, Tags: map[string]string{"a": "b"}}
	var none *ent.Service
	made, lost := audit.Diff(nil, s), audit.Diff(s, none)
	require.Len(t, made, len(lost))
	for field, c := range made {
		require.Nil(t, c.From, field)
		require.Equal(t, c.To, lost[field].From, field)
	}
	require.Contains(t, made, "ownerTeamId")
	require.Contains(t, made, "tags")
	require.Empty(t, audit.Diff(nil, nil))
	require.Empty(t, audit.Diff(s, s))
	require.Empty(t, audit.Diff(none, none))
}
