package definition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	before := `{"phases":[{"id":"s","type":"START"},{"id":"a","type":"PROCESS","name":"Old","config":{"title":"One","dueMinutes":10}},
		{"id":"gone","type":"PROCESS"},{"id":"e","type":"END","name":null}],
		"transitions":[{"from":"s","name":"next","to":"a"},{"from":"a","name":"fine","to":"gone"},{"from":"gone","name":"next","to":"e"}]}`
	after := `{"transitions":[{"from":"s","name":"next","to":"a"},{"from":"a","name":"fine","to":"new"},{"from":"new","name":"next","to":"e"}],
		"phases":[{"id":"e","type":"END"},{"type":"START","id":"s"},{"id":"new","type":"TIMER","config":{"duration":"1h"}},
		{"id":"a","type":"PROCESS","config":{"title":"Two","dueMinutes":10},"participants":[{"role":"responsible","type":"user","id":"usr_1"}]}]}`
	changes, err := Diff([]byte(before), []byte(after))
	require.NoError(t, err)
	var got []string
	for _, c := range changes {
		got = append(got, c.Path+": "+string(c.From)+" → "+string(c.To))
	}
	require.Equal(t, []string{
		`definition.phases[a].config.title: "One" → "Two"`,
		`definition.phases[a].name: "Old" → null`,
		`definition.phases[a].participants: null → [{"id":"usr_1","role":"responsible","type":"user"}]`,
		`definition.phases[gone]: {"id":"gone","type":"PROCESS"} → null`,
		`definition.phases[new]: null → {"config":{"duration":"1h"},"id":"new","type":"TIMER"}`,
		`definition.transitions[a.fine]: "gone" → "new"`,
		`definition.transitions[gone.next]: "e" → null`,
		`definition.transitions[new.next]: null → "e"`,
	}, got)
	_, err = Diff([]byte(`{`), []byte(after))
	require.Error(t, err)
}

// A definition does not differ from itself, and the way back is the way there with both sides exchanged.
func TestDiffProperty(t *testing.T) {
	t.Parallel()
	all := []string{
		graphOf("s>e"), graphOf("s>a:next a>e", "a"), graphOf("s>a:next a>b b>e", "a", "b"),
		with(Timer, "next")(`{"duration":"1h"}`), with(Timer, "next")(`{"duration":"2h","calendarId":"cal_1"}`), with(Decision, "x", "y")(`{"default":"x","rules":[]}`),
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SampledFrom(all).Draw(t, "a"), rapid.SampledFrom(all).Draw(t, "b")
		there, err := Diff([]byte(a), []byte(b))
		require.NoError(t, err)
		back, err := Diff([]byte(b), []byte(a))
		require.NoError(t, err)
		for i := range back {
			back[i].From, back[i].To = back[i].To, back[i].From
		}
		require.Equal(t, there, back)
		require.Equal(t, a == b, len(there) == 0)
	})
}
