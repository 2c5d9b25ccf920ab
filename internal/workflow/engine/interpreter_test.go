package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// node is a phase of a random program: a task, a computation, or a block of sequences. The block's JOIN has its id with a j before it.
type node struct {
	kind     string // task, data, par, each
	id       string
	branches [][]*node
	join     int // 0 for all
	cancels  bool
	items    int // of an each
	most     int // likewise
}

// place is where the interpreter stands in a sequence. It is what the engine is held against: the plainest program that does the same.
type place struct {
	seq   []*node
	name  string // of the branch, with those around it
	at    int
	inner []*place // of the block at which it stands; nil before it is entered
	done  bool
	out   map[string]any
}

func (p *place) child(name string, seq []*node) *place {
	if p.name != "" {
		name = p.name + " / " + name
	}
	return &place{seq: seq, name: name, out: map[string]any{}}
}

// goOn runs until it waits or is done.
func (p *place) goOn() {
	for ; p.at < len(p.seq); p.at, p.inner = p.at+1, nil {
		switch n := p.seq[p.at]; n.kind {
		case "task":
			return
		case "data":
			p.out[n.id] = map[string]any{"v": "1"}
		default:
			if !p.block(n) {
				return
			}
		}
	}
	p.done = true
}

// block runs the branches of a block; true when they have joined.
func (p *place) block(n *node) bool {
	all, need, most := len(n.branches), n.join, len(n.branches)
	if n.kind == "each" {
		all, most = n.items, n.most
	}
	if need == 0 || need > all {
		need = all
	}
	for i := 0; ; i++ {
		open, done := 0, 0
		for _, b := range p.inner {
			if b.done {
				done++
			} else {
				open++
			}
		}
		switch {
		case done >= need:
			p.joined(n)
			return true
		case i < len(p.inner):
		case i < all && open < most && n.kind == "each":
			p.inner = append(p.inner, p.child(fmt.Sprint(i+1), n.branches[0]))
		case i < all && n.kind == "par":
			p.inner = append(p.inner, p.child(fmt.Sprint("b", i), n.branches[i]))
		default:
			return false
		}
		p.inner[i].goOn()
	}
}

func (p *place) joined(n *node) {
	completed, cancelled, results := []any{}, []any{}, []any{}
	for i := range max(len(n.branches), len(p.inner)) {
		switch {
		case i >= len(p.inner) || !p.inner[i].done:
			cancelled = append(cancelled, fmt.Sprint("b", i))
			continue
		case n.kind == "par":
			maps.Copy(p.out, p.inner[i].out)
		}
		completed, results = append(completed, fmt.Sprint("b", i)), append(results, p.inner[i].out)
	}
	p.out[n.id], p.out["j"+n.id] = map[string]any{}, map[string]any{"completed": completed, "cancelled": cancelled}
	if n.kind == "each" {
		p.out["j"+n.id] = map[string]any{"results": results}
	}
}

// tasks returns the open tasks, by branch and phase.
func (p *place) tasks() (list []string) {
	if p.done {
		return nil
	}
	if n := p.seq[p.at]; n.kind == "task" {
		return []string{p.name + " " + n.id}
	}
	for _, b := range p.inner {
		list = append(list, b.tasks()...)
	}
	return list
}

// complete does an open task, and break gives it a fault: the innermost block around that has onFault cancel ends by it. Each reports
// whether the place had it.
func (p *place) complete(task string, v map[string]any) bool {
	if i := p.holds(task); i >= 0 {
		return p.inner[i].complete(task, v)
	}
	p.out[p.seq[p.at].id] = v
	p.at++
	return true
}

func (p *place) breaks(task string) (caught bool) {
	i := p.holds(task)
	if i < 0 || p.inner[i].breaks(task) {
		return i >= 0
	}
	n := p.seq[p.at]
	if n.cancels {
		id := task[strings.LastIndexByte(task, ' ')+1:]
		p.out[n.id], p.out["j"+n.id] = map[string]any{}, map[string]any{"fault": map[string]any{"phaseId": id, "code": "participant_missing", "message": "Gone."}}
		p.at, p.inner = p.at+1, nil
	}
	return n.cancels
}

// holds returns the index of the branch that has the open task; -1 if it is the place's own.
func (p *place) holds(task string) int {
	return slices.IndexFunc(p.inner, func(b *place) bool { return slices.Contains(b.tasks(), task) })
}
