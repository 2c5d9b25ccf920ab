package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

// program draws nested blocks, and writes them as a definition.
type program struct {
	t           *rapid.T
	n           int
	phases      []string
	transitions []string
}

func (g *program) sequence(depth int) (list []*node) {
	for range rapid.IntRange(1, 3).Draw(g.t, "length") {
		kinds := []string{"task", "task", "data"}
		if depth < definition.MaxNesting {
			kinds = append(kinds, "par", "each")
		}
		g.n++
		n := &node{kind: rapid.SampledFrom(kinds).Draw(g.t, "kind"), id: fmt.Sprint("n", g.n)}
		branches := 0
		switch n.kind {
		case "par":
			branches = rapid.IntRange(2, 3).Draw(g.t, "branches")
			n.join = rapid.IntRange(0, branches).Draw(g.t, "join")
		case "each":
			branches, n.items, n.most = 1, rapid.IntRange(0, 3).Draw(g.t, "items"), rapid.IntRange(1, 3).Draw(g.t, "most")
			n.join = rapid.IntRange(0, 3).Draw(g.t, "join")
		}
		if branches > 0 {
			n.cancels = rapid.IntRange(0, 2).Draw(g.t, "cancels") == 0
		}
		for range branches {
			n.branches = append(n.branches, g.sequence(depth+1))
		}
		list = append(list, n)
	}
	return list
}

// write writes a sequence that leads to a phase, and returns the phase with which it starts.
func (g *program) write(seq []*node, to string) string {
	for _, n := range slices.Backward(seq) {
		if n.branches == nil {
			keys := `"type":"PROCESS"`
			if n.kind == "data" {
				keys = `"type":"DATA","config":{"kind":"enrich","set":{"v":"'1'"}}`
			}
			g.phases = append(g.phases, fmt.Sprintf(`{"id":%q,%s}`, n.id, keys))
			g.transitions = append(g.transitions, fmt.Sprintf(`{"from":%q,"name":"next","to":%q}`, n.id, to))
		} else {
			g.block(n, to)
		}
		to = n.id
	}
	return to
}

func (g *program) block(n *node, to string) {
	join, fault, failed := `"all"`, "wait", ""
	if n.join > 0 {
		join = fmt.Sprint(n.join)
	}
	if n.cancels {
		fault, failed = "cancel", fmt.Sprintf(`,"failed":%q`, to)
	}
	end := "j" + n.id
	g.phases = append(g.phases, fmt.Sprintf(`{"id":%q,"type":"JOIN","next":%q%s}`, end, to, failed))
	keys := fmt.Sprintf(`"id":%q,"join":%s,"onFault":%q,"end":%q`, n.id, join, fault, end)
	if n.kind == "each" {
		items := make([]string, n.items)
		for i := range items {
			items[i] = fmt.Sprint(i)
		}
		g.phases = append(g.phases, fmt.Sprintf(`{"type":"FOR_EACH",%s,"in":"[%s]","as":"it","maxParallel":%d,"start":%q}`, keys, strings.Join(items, ","), n.most, g.write(n.branches[0], end)))
		return
	}
	var branches []string
	for i, b := range n.branches {
		branches = append(branches, fmt.Sprintf(`{"name":"b%d","start":%q}`, i, g.write(b, end)))
	}
	g.phases = append(g.phases, fmt.Sprintf(`{"type":"PARALLEL",%s,"branches":[%s]}`, keys, strings.Join(branches, ",")))
}

// drawProgram returns a program, and its definition.
func drawProgram(t *rapid.T) ([]*node, *definition.Definition) {
	g := &program{t: t}
	seq := g.sequence(0)
	first := g.write(seq, "e")
	g.phases = append(g.phases, `{"id":"s","type":"START"}`, `{"id":"e","type":"END"}`)
	g.transitions = append(g.transitions, fmt.Sprintf(`{"from":"s","name":"next","to":%q}`, first))
	raw := fmt.Sprintf(`{"phases":[%s],"transitions":[%s]}`, strings.Join(g.phases, ","), strings.Join(g.transitions, ","))
	d, faults := definition.Parse([]byte(raw))
	require.Empty(t, faults, raw)
	return seq, d
}

// ordersOfEach is how many random orders of inputs each program runs: 2,000 runs with rapid's 100 programs, and more with -rapid.checks.
const ordersOfEach = 20

// Random nested blocks and orders of inputs, each step computed from the state as a database stores it: the engine stands where the
// interpreter does after every input, opens each task exactly once, joins each block once, and leaves nothing open.
func TestBlocksRunLikeTheInterpreter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seq, d := drawProgram(t)
		for range ordersOfEach {
			runBoth(t, seq, d)
		}
	})
}

func runBoth(t *rapid.T, seq []*node, d *definition.Definition) {
	opens := map[string]bool{}
	p := &place{seq: seq, out: map[string]any{"s": map[string]any{}}}
	w := &recorder{world: &world{t: t, d: d, env: engine.Env{Now: noon, ExecutionID: "exe_1", Most: rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "most")}}, opened: map[int]string{}}
	w.step(engine.Begin{})
	p.goOn()
	for n := 0; !p.done; n++ {
		tasks := p.tasks()
		require.ElementsMatch(t, tasks, w.tasks())
		for _, one := range tasks {
			opens[one] = true
		}
		task := rapid.SampledFrom(tasks).Draw(t, "task")
		visit, before := w.visitOfTask(task), w.state
		if rapid.IntRange(0, 4).Draw(t, "breaks") == 0 {
			w.step(engine.Stuck{Visit: visit, Code: engine.ParticipantMissing, Message: "Gone."})
			if p.breaks(task) {
				p.goOn()
				require.ErrorIs(t, w.try(engine.Retry{Visit: visit}), engine.ErrStale)
				continue
			}
			w.step(engine.Retry{Visit: visit})
		}
		v := map[string]any{"v": fmt.Sprint(n)}
		in := engine.TaskDone{Visit: visit, Variables: v}
		w.step(in)
		p.complete(task, map[string]any{"v": v["v"], "outcome": "next"})
		p.goOn()
		require.ErrorIs(t, w.try(in), engine.ErrStale, "an input counts once")
		require.NotEqual(t, asText(t, before), asText(t, w.state))
	}
	require.Equal(t, engine.Completed, w.state.Status)
	require.JSONEq(t, asText(t, p.out), asText(t, w.state.Phases))
	require.Subset(t, w.opens, slices.Collect(maps.Keys(opens)))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(w.opens))), len(w.opens), "each task is opened exactly once")
	w.nothingIsLeft(t, d)
}

// recorder is a world that takes down which tasks are opened and closed.
type recorder struct {
	*world
	opened map[int]string // open ones, by visit
	opens  []string       // all, each with its branch
	closed []int
}

func (w *recorder) step(in engine.Input) {
	require.NoError(w.t, w.try(in))
}

func (w *recorder) try(in engine.Input) error {
	res, err := engine.Step(w.t.(*rapid.T).Context(), w.d, w.state, in, w.env)
	if err != nil {
		return err
	}
	for _, v := range res.History {
		if v.Number > len(w.history) {
			w.history = append(w.history, v)
		}
		w.history[v.Number-1] = v
	}
	for _, e := range res.Effects {
		switch e := e.(type) {
		case engine.OpenTask:
			v := w.history[e.Visit-1]
			if v.Attempts == 1 {
				w.opens = append(w.opens, v.Branch+" "+v.PhaseID)
			}
			w.opened[e.Visit] = v.Branch + " " + v.PhaseID
		case engine.CloseOpen:
			delete(w.opened, e.Visit)
		}
	}
	if in, ok := in.(engine.TaskDone); ok {
		delete(w.opened, in.Visit)
	}
	w.state = stored(w.t, res.State)
	if res.More {
		return w.try(engine.Continue{Visit: w.state.Visit.Number})
	}
	return nil
}

// tasks returns the open tasks, by branch and phase.
func (w *recorder) tasks() (list []string) {
	for _, task := range w.opened {
		list = append(list, task)
	}
	return list
}

func (w *recorder) visitOfTask(task string) int {
	for visit, one := range w.opened {
		if one == task {
			return visit
		}
	}
	return 0
}

// nothingIsLeft holds the history against what must be true of every execution that has ended.
func (w *recorder) nothingIsLeft(t *rapid.T, d *definition.Definition) {
	require.Empty(t, w.opened, "nothing is open")
	require.Nil(t, w.state.Block)
	blocks, joins := map[string]int{}, map[string]int{}
	for i, v := range w.history {
		require.Equal(t, i+1, v.Number)
		require.NotNil(t, v.FinishedAt, "%s", v.PhaseID)
		p := d.Phase(v.PhaseID)
		if p.Block != nil && v.Status == engine.Completed {
			blocks[v.Branch+" "+p.Block.End.ID]++
		}
		if p.Type == definition.Join {
			joins[v.Branch+" "+p.ID]++
			require.NotEmpty(t, json.RawMessage(asText(t, v.Output)))
		}
	}
	require.Equal(t, blocks, joins, "each block joins once")
}
