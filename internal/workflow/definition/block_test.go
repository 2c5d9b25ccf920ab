package definition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// blocks makes a definition of PROCESS phases, blocks and edges ("a>b"): s is the START and e the END.
func blocks(edges string, further []string, processes ...string) string {
	list := further
	for _, id := range processes {
		list = append(list, `{"id":"`+id+`","type":"PROCESS"}`)
	}
	return strings.Replace(graphOf(edges), `"phases":[`, `"phases":[`+strings.Join(list, ",")+",", 1)
}

func parallel(id, branches, end, more string) string {
	var list []string
	for _, start := range strings.Fields(branches) {
		list = append(list, `{"name":"`+start+`","start":"`+start+`"}`)
	}
	return `{"id":"` + id + `","type":"PARALLEL","branches":[` + strings.Join(list, ",") + `],"end":"` + end + `"` + more + `}`
}

func each(id, start, end, more string) string {
	return `{"id":"` + id + `","type":"FOR_EACH","in":"request.fields.list","as":"one","start":"` + start + `","end":"` + end + `"` + more + `}`
}

func joins(id, next string) string { return `{"id":"` + id + `","type":"JOIN","next":"` + next + `"}` }

func TestGoodBlocks(t *testing.T) {
	t.Parallel()
	d := accepted(t, blocks("s>b a>c c>j x>k y>j sorry>e", []string{
		parallel("b", "a x2", "j", `,"join":2,"onFault":"cancel","name":"Prepare","requestAction":"accept","participants":[{"role":"informed","type":"user","id":"u"}]`),
		`{"id":"j","type":"JOIN","next":"e","failed":"sorry"}`,
		each("x2", "x", "k", `,"maxParallel":10,"join":"any"`), joins("k", "y"),
	}, "a", "c", "x", "y", "sorry"))
	b, x := d.Phase("b"), d.Phase("x2")
	require.True(t, b.Block.Cancels)
	require.Equal(t, 2, b.Block.Needed(2))
	require.Same(t, d.Phase("j"), b.Follow(Joined))
	require.Equal(t, []int{10, 1, 1, 0}, []int{x.Block.MaxParallel, x.Block.Join, x.Block.Needed(5), x.Block.Needed(0)})
	require.Equal(t, []*Phase{x, b}, d.Phase("x").Around())
	require.Equal(t, []*Phase{b}, d.Phase("y").Around())
	require.Equal(t, 1, d.Phase("k").Branch)
	require.Empty(t, d.Phase("j").Around())
	require.Len(t, d.References().Users, 1)
}

func TestBadBlocks(t *testing.T) {
	t.Parallel()
	two := func(more string) []string { return []string{parallel("b", "a c", "j", more), joins("j", "e")} }
	refused(t, asIs, []fault{
		{"settings", blocks("s>b a>j c>j", two(`,"join":3,"onFault":"ignore","config":{},"sla":null`), "a", "c"), []string{
			"definition.phases[b].config: Is not a known field.",
			"definition.phases[b].sla: Is not a known field.",
			"definition.phases[b].onFault: Must be one of wait, cancel.",
			"definition.phases[b].join: Must be a whole number from 1 to 2.",
		}},
		{"join", blocks("s>b a>j c>j", two(`,"join":"most"`), "a", "c"), []string{"definition.phases[b].join: Must be all, any or a whole number."}},
		{"one branch, unknown phases", blocks("s>b a>j", []string{parallel("b", "a", "k", ""), joins("j", "nowhere")}, "a"), []string{
			"definition.phases[b].branches: Needs at least 2 entries.",
			`definition.phases[b].end: No phase has the id "k".`,
			`definition.phases[j].next: No phase has the id "nowhere".`,
		}},
		{"names", blocks("s>b a>j", []string{`{"id":"b","type":"PARALLEL","branches":[{"name":"A","start":"a"},{"name":"A","start":"a"}],"end":"j"}`, joins("j", "e")}, "a"), []string{
			`definition.phases[b].branches[1].name: Another branch has the name "A".`,
			`definition.phases[b].branches[1].start: Another branch starts with "a".`,
		}},
		{"the item's name", blocks("s>b a>j", []string{strings.Replace(each("b", "a", "j", `,"maxParallel":11`), `"one"`, `"index"`, 1), joins("j", "e")}, "a"), []string{
			"definition.phases[b].maxParallel: Must be a whole number from 1 to 10.",
			"definition.phases[b].as: Must not be index, which holds the number of the item.",
		}},
		{"no list", blocks("s>b a>j", []string{strings.Replace(each("b", "a", "j", ""), "request.fields.list", "request.title", 1), joins("j", "e")}, "a"), []string{
			"definition.phases[b].in: The expression must give a list(dyn), not a string.",
		}},
		{"transitions", blocks("s>b a>j c>j b>e j>e", two(""), "a", "c"), []string{
			`definition.transitions[3].from: No transition may leave "b", of type PARALLEL, which names itself where it leads.`,
			`definition.transitions[4].from: No transition may leave "j", of type JOIN, which names itself where it leads.`,
		}},
		{"the end is no JOIN", blocks("s>b a>e c>e", []string{parallel("b", "a c", "e", "")}, "a", "c"), []string{`definition.phases[b].end: Must be the id of a JOIN; "e" is of type END.`}},
		{"a JOIN alone", blocks("s>a a>j", []string{joins("j", "e")}, "a"), []string{`definition.phases[j]: The JOIN "j" is the end of no block.`}},
		{"failed", blocks("s>b a>j c>j", two(`,"onFault":"cancel"`), "a", "c"), []string{`definition.phases[j].failed: Is required: the block "b" has onFault cancel.`}},
		{"failed for nothing", blocks("s>b a>j c>j", []string{parallel("b", "a c", "j", ""), `{"id":"j","type":"JOIN","next":"e","failed":"e"}`}, "a", "c"), []string{
			`definition.phases[j].failed: Is only taken if the block has onFault cancel; "b" has not.`,
		}},
		{"shared", blocks("s>b a>x c>x x>j", two(""), "a", "c", "x"), []string{`definition.phases[b].branches[1].start: Two branches of the block "b" lead into the phase "x".`}},
		{"END inside", blocks("s>b a>j c>j c>e:out", two(""), "a", "c"), []string{
			`definition.phases[b].branches[1].start: The branch leads to the END "e"; it must lead to "j" alone, the end of its block.`,
		}},
		{"back into the block", blocks("s>b a>j c>j c>b:out", two(""), "a", "c"), []string{
			`definition.phases[b].branches[1].start: The branch leads back into its block; it must lead to "j", the end of it.`,
		}},
		{"a way in", blocks("s>x x>b x>a:in a>j c>j", two(""), "a", "c", "x"), []string{
			`definition.transitions[2].to: Only the block "b" leads into its branches and only these to its end: not "x".`,
		}},
		{"a way to the end", blocks("s>x x>b x>j:in a>j c>j", two(""), "a", "c", "x"), []string{
			`definition.transitions[2].to: Only the block "b" leads into its branches and only these to its end: not "x".`,
		}},
		{"starts with the end", blocks("s>b a>j", []string{parallel("b", "a j", "j", ""), joins("j", "e")}, "a"), []string{
			`definition.phases[b].branches[1].start: A branch must not start with the end of its block.`,
			`definition.phases[b].branches[1].start: The branch leads to the END "e"; it must lead to "j" alone, the end of its block.`,
		}},
		{"too deep", blocks("s>b1 a>j4", []string{
			each("b1", "b2", "j1", ""), each("b2", "b3", "j2", ""), each("b3", "b4", "j3", ""), each("b4", "a", "j4", ""), joins("j4", "j3"), joins("j3", "j2"), joins("j2", "j1"), joins("j1", "e"),
		}, "a"), []string{`definition.phases[b4]: The block "b4" stands inside of 3 others; blocks may nest 3 deep.`}},
	})
}

// A block is left out only with all of its phases, and what stands in another branch is never left out.
func TestPassedInBlocks(t *testing.T) {
	t.Parallel()
	d := accepted(t, blocks("s>x x>y x>e:no y>b a>z a>j:no z>j c>j", []string{parallel("b", "a c", "j", ""), joins("j", "e")}, "x", "y", "a", "c", "z"))
	ids := func(from, to string) (out []string) {
		for _, p := range d.Passed(d.Phase(from), d.Phase(to)) {
			out = append(out, p.ID)
		}
		return out
	}
	require.Equal(t, []string{"x"}, ids("x", "y"), "both branches are still to come")
	require.Equal(t, []string{"a"}, ids("a", "z"))
	require.Empty(t, ids("z", "a"))
	var out []string
	for _, p := range d.Passed(nil, d.Phase("a")) {
		out = append(out, p.ID)
	}
	require.Equal(t, []string{"x", "y"}, out, "the other branch goes on")
}
