package definition

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	refused(t, asIs, []fault{
		{"keys", `{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"},{"when":1}]}`, []string{
			`definition.transitions[1].when: Is not a known field.`,
			"definition.transitions[1].from: Is required.",
			"definition.transitions[1].name: Is required.",
			"definition.transitions[1].to: Is required.",
		}},
		{"types", `{"phases":[{"id":"s","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"},{"from":1,"name":true,"to":null}]}`, []string{
			"definition.transitions[1].to: Is required.",
			"definition.transitions[1].from: Must be a string, not a number.",
			"definition.transitions[1].name: Must be a string, not a boolean.",
		}},
		{"to nowhere", graphOf("s>p p>nowhere", "p"), []string{`definition.transitions[1].to: No phase has the id "nowhere".`, `definition.phases[e]: The phase "e" cannot be reached from START.`}},
		{"from nowhere", graphOf("s>e nowhere>p p>e", "p"), []string{`definition.transitions[1].from: No phase has the id "nowhere".`}},
		{"into START", graphOf("s>p p>e:done p>s:again", "p"), []string{`definition.transitions[2].to: No transition may lead into "s", which is a START.`}},
		{"out of END", graphOf("s>e e>s", ""), []string{
			`definition.phases[2].id: The id "" is not usable: it takes a lower-case letter, then up to 62 of a-z, 0-9 and _.`,
			`definition.transitions[1].to: No transition may lead into "s", which is a START.`,
			`definition.transitions[1].from: No transition may leave "e", which is an END.`,
		}},
		{"out of END only", graphOf("s>p p>e e>p", "p"), []string{`definition.transitions[2].from: No transition may leave "e", which is an END.`}},
		{"two of one name", graphOf("s>p p>e:done p>q:done q>e", "p", "q"), []string{`definition.transitions[2].name: Two transitions named "done" leave the phase "p".`}},
		{"START by another name", graphOf("s>e:go"), []string{
			`definition.transitions[0].name: The phase "s", of type START, takes no way out named "go"; it takes next.`,
		}},
		{"START twice", graphOf("s>p s>e:other p>e", "p"), []string{
			`definition.transitions[1].name: The phase "s", of type START, takes no way out named "other"; it takes next.`,
		}},
		{"no way out", graphOf("s>p p>e:done p>q:more", "p", "q"), []string{`definition.phases[q]: No transition leaves the phase "q".`}},
	})
}

func TestReachability(t *testing.T) {
	t.Parallel()
	refused(t, asIs, []fault{
		{"not from START", graphOf("s>e p>e", "p"), []string{`definition.phases[p]: The phase "p" cannot be reached from START.`}},
		{"an island", graphOf("s>e p>q q>p", "p", "q"), []string{
			`definition.phases[p]: The phase "p" cannot be reached from START.`,
			`definition.phases[q]: The phase "q" cannot be reached from START.`,
		}},
		{"no END from a loop", graphOf("s>p p>e:done p>q:more q>r r>q", "p", "q", "r"), []string{
			`definition.phases[q]: No END can be reached from the phase "q".`,
			`definition.phases[r]: No END can be reached from the phase "r".`,
		}},
		{"itself only", graphOf("s>p p>e:done p>q:more q>q", "p", "q"), []string{`definition.phases[q]: No END can be reached from the phase "q".`}},
		{"an END that nothing enters", graphOf("s>p p>p", "p"), []string{
			`definition.phases[s]: No END can be reached from the phase "s".`,
			`definition.phases[e]: The phase "e" cannot be reached from START.`,
			`definition.phases[p]: No END can be reached from the phase "p".`,
		}},
		{"no START", `{"phases":[{"id":"p","type":"PROCESS"},{"id":"e","type":"END"}],"transitions":[{"from":"p","name":"next","to":"e"}]}`, []string{"definition: There must be one phase of the type START."}},
		{"no END", `{"phases":[{"id":"s","type":"START"},{"id":"p","type":"PROCESS"}],"transitions":[{"from":"s","name":"next","to":"p"},{"from":"p","name":"next","to":"p"}]}`, []string{"definition: There must be at least one phase of the type END."}},
		{"two STARTs", `{"phases":[{"id":"s","type":"START"},{"id":"t","type":"START"},{"id":"e","type":"END"}],"transitions":[{"from":"s","name":"next","to":"e"},{"from":"t","name":"next","to":"e"}]}`, []string{`definition.phases[t].type: A second START, "t"; there may be only one.`}},
	})
}

func TestGraphOfAGoodDefinition(t *testing.T) {
	t.Parallel()
	d := accepted(t, graphOf("s>p p>p:again p>e:done p>q:ask q>e", "p", "q"))
	require.Equal(t, "s", d.Start.ID)
	require.Len(t, d.Phases, 4)
	require.Equal(t, Transition{From: "s", Name: "next", To: "p"}, d.Transitions[0])
	p := d.Phase("p")
	require.Equal(t, []string{"again", "done", "ask"}, p.Ways())
	require.Same(t, p, p.Follow("again"))
	require.Same(t, d.Phase("e"), p.Follow("done"))
	require.Nil(t, p.Follow("next"))
	require.Nil(t, d.Phase("x"))
	require.Equal(t, "p", p.Title())
}
