package op_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/ent"
	"atrium/internal/op"
)

// text is a text as Diff shows it.
func text(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }

func TestDiffMasksSecrets(t *testing.T) {
	t.Parallel()
	before := &ent.Secret{ID: "sec_1", CompanyID: "co_1", Name: "TOKEN", Sealed: []byte("first"), Version: 1}
	after := &ent.Secret{ID: "sec_1", CompanyID: "co_1", Name: "TOKEN", Sealed: []byte("second"), Version: 2}
	changes := op.Diff(before, after)
	require.Equal(t, op.Change{From: text("***"), To: text("***")}, changes["value"])
	require.Equal(t, op.Change{From: 1, To: 2}, changes["version"])
	require.Len(t, changes, 2, "what is the same is left out, as are id, company and times")
	b, err := json.Marshal(op.Diff(nil, &ent.APIKey{Hash: []byte("hash"), Name: "K"}))
	require.NoError(t, err)
	require.NotContains(t, string(b), "aGFzaA")
	require.Contains(t, string(b), `"***"`)
	require.Equal(t, op.Change{From: nil, To: text("***")}, op.Diff(&ent.Account{}, &ent.Account{PasswordHash: "x"})["passwordHash"])
}

func TestDiffBoundsLongValues(t *testing.T) {
	t.Parallel()
	changes := op.Diff(&ent.Service{Name: "a"}, &ent.Service{Name: "b", Description: strings.Repeat("x", 5000)})
	require.Equal(t, "(5002 bytes)", changes["description"].To)
	require.Nil(t, changes["description"].From)
}

func TestDiffOfOneSide(t *testing.T) {
	t.Parallel()
	team := "team_1"
	s := &ent.Service{Name: "S", OwnerTeamID: &team, Tags: map[string]string{"a": "b"}}
	var none *ent.Service
	made, lost := op.Diff(nil, s), op.Diff(s, none)
	require.Len(t, made, len(lost))
	for field, c := range made {
		require.Nil(t, c.From, field)
		require.Equal(t, c.To, lost[field].From, field)
	}
	require.Contains(t, made, "ownerTeamId")
	require.Contains(t, made, "tags")
	require.Empty(t, op.Diff(nil, nil))
	require.Empty(t, op.Diff(s, s))
	require.Empty(t, op.Diff(none, none))
}

// Pages never overlap and cover everything; those past the end say so, however far they lie.
func TestPagesCoverEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total, size := rapid.IntRange(0, 2000).Draw(t, "total"), rapid.IntRange(1, 100).Draw(t, "size")
		pages := op.List[int]{Total: total, Page: op.Page{Size: size}}.Pages()
		next := 0
		for n := 1; n <= pages; n++ {
			off, ok := op.Page{Number: n, Size: size}.Offset(total)
			if !ok || off != next {
				t.Fatalf("page %d of %d starts at %d (%t), not at %d", n, pages, off, ok, next)
			}
			next = min(off+size, total)
		}
		if next != total {
			t.Fatalf("%d of %d rows are on a page", next, total)
		}
		past := rapid.OneOf(rapid.Just(pages+1), rapid.IntRange(pages+1, 1<<62)).Draw(t, "past")
		if _, ok := (op.Page{Number: past, Size: size}).Offset(total); ok {
			t.Fatalf("page %d lies past the end", past)
		}
	})
}
