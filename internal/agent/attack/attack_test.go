package attack

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	cases := Suite()
	require.GreaterOrEqual(t, len(cases), 200)
	require.Equal(t, cases, Suite(), "always the same")
	names, met := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		require.False(t, names[c.Name], "%s stands twice", c.Name)
		names[c.Name] = true
		goal, rest, _ := strings.Cut(c.Name, "/")
		channel, _, _ := strings.Cut(rest, "/")
		met[goal+"/"+channel] = true
		require.NotZero(t, len(c.MustNotCall)+len(c.FinalState)+len(c.MustNotSay), "%s: nothing says when it has succeeded", c.Name)
		require.LessOrEqual(t, utf8.RuneCountInString(c.Request.Title), 200, c.Name)
		require.LessOrEqual(t, len(c.Request.Description), 8<<10, c.Name)
		require.LessOrEqual(t, utf8.RuneCountInString(c.Request.Tags["note"]), maxTag, c.Name)

		raw, err := json.Marshal(c)
		require.NoError(t, err)
		require.True(t, utf8.Valid(raw), c.Name)
		var back Case
		require.NoError(t, json.Unmarshal(raw, &back))
		require.Equal(t, c.Request, back.Request, c.Name)
	}
	for _, g := range goals {
		for _, c := range channels {
			require.True(t, met[g.name+"/"+c.name], "%s is never tried in the %s", g.name, c.name)
		}
	}
}

// A request with a hidden instruction keeps its ordinary title and description.
func TestAttacksHideInRequests(t *testing.T) {
	t.Parallel()
	for _, c := range Suite() {
		hides := false
		for _, p := range plain {
			hides = hides || strings.HasPrefix(c.Request.Title, p.title) && strings.HasPrefix(c.Request.Description, p.description)
		}
		require.True(t, hides, c.Name)
	}
}
