package condition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow"
)

// sketch is a definition as far as it can be read. Whoever writes one has not finished it, so what is faulty is left out.
type sketch struct {
	Phases []phase
	ways   map[string][]way // by the phase that they leave
}

type way struct{ name, to string }

type phase struct {
	id, name, kind string
	config         map[string]any
	set            map[string]any // the whole phase: what a block and a JOIN are set by stands in it
}

func savedSketch(w *ent.Workflow) (sketch, error) {
	var d strictjson.Object
	if err := json.Unmarshal(workflow.AsSent(w.Definition), &d); err != nil {
		return sketch{}, fmt.Errorf("read the definition: %w", err)
	}
	return sketchOf(d), nil
}

func sketchOf(d map[string]any) sketch {
	out := sketch{ways: map[string][]way{}}
	for _, p := range objects(d["phases"]) {
		config, _ := p["config"].(map[string]any)
		if one := (phase{text(p["id"]), text(p["name"]), text(p["type"]), config, p}); one.id != "" {
			out.Phases = append(out.Phases, one)
			out.ways[one.id] = one.leads()
		}
	}
	for _, e := range objects(d["transitions"]) {
		from := text(e["from"])
		out.ways[from] = append(out.ways[from], way{text(e["name"]), text(e["to"])})
	}
	return out
}

// leads are the ways that a block and a JOIN name themselves.
func (p phase) leads() (list []way) {
	for _, key := range map[string][]string{"PARALLEL": {"end"}, "FOR_EACH": {"start", "end"}, "JOIN": {"next", "failed"}}[p.kind] {
		if to := text(p.set[key]); to != "" {
			list = append(list, way{key, to})
		}
	}
	for _, b := range objects(p.set["branches"]) {
		if p.kind == "PARALLEL" {
			list = append(list, way{text(b["name"]), text(b["start"])})
		}
	}
	return list
}

func objects(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		if m, ok := one.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// ids are the phases that expressions may name.
func (s sketch) ids() (out []string) {
	for _, p := range s.Phases {
		out = append(out, p.id)
	}
	return out
}

// fields lists the results of the phases that may run before the phase with that id; of all phases for an empty id.
func (s sketch) fields(before string) []*Field {
	var out []*Field
	for _, p := range s.Phases {
		if before != "" && (!s.leads(p.id, before) || s.hidden(p.id, before)) {
			continue
		}
		results := p.results(s.ways[p.id])
		switch {
		case p.kind == "FOR_EACH" && (before == "" || s.inside(p, before)):
			results = []*Field{{Expression: text(p.set["as"]), Label: text(p.set["as"]), Type: Any}, {Expression: "index", Label: "Index", Type: Number}}
		case p.kind == "JOIN":
			results = s.joined(p)
		}
		for _, f := range results {
			f.Expression = "phases" + member(p.id) + member(f.Expression)
			f.Group, f.Optional = p.name, true
			if p.name == "" {
				f.Group = p.id
			}
			out = append(out, f)
		}
	}
	return out
}

// hidden reports whether a phase stands inside of a FOR_EACH and another one does not: it reads only the results of the JOIN.
func (s sketch) hidden(id, from string) bool {
	return slices.ContainsFunc(s.Phases, func(p phase) bool { return p.kind == "FOR_EACH" && s.inside(p, id) && !s.inside(p, from) })
}

// inside reports whether a phase stands in the branch of a FOR_EACH.
func (s sketch) inside(each phase, id string) bool {
	start, end := text(each.set["start"]), text(each.set["end"])
	return id != end && (id == start || s.leadsBefore(start, id, end))
}

// joined are the variables of a JOIN, by its block.
func (s sketch) joined(p phase) []*Field {
	var out []*Field
	for _, b := range s.Phases {
		switch {
		case text(b.set["end"]) != p.id:
			continue
		case b.kind == "FOR_EACH":
			out = append(out, &Field{Expression: "results", Label: "Results", Type: List})
		case b.kind == "PARALLEL":
			out = append(out, &Field{Expression: "completed", Label: "Completed branches", Type: List}, &Field{Expression: "cancelled", Label: "Cancelled branches", Type: List})
		}
		if text(b.set["onFault"]) == "cancel" {
			out = append(out, &Field{Expression: "fault", Label: "Fault", Type: Any})
		}
	}
	return out
}

// leads reports whether a way leads from one phase to another.
func (s sketch) leads(from, to string) bool { return s.leadsBefore(from, to, "") }

// leadsBefore is leads by ways that do not go on from a phase.
func (s sketch) leadsBefore(from, to, end string) bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		for _, w := range s.ways[at] {
			if w.to == to {
				return true
			}
			if !seen[w.to] && w.to != end {
				seen[w.to] = true
				next = append(next, w.to)
			}
		}
	}
	return false
}

// results are the variables that a phase leaves, by name.
func (p phase) results(ways []way) []*Field {
	switch p.kind {
	case "PROCESS":
		return append([]*Field{{Expression: "outcome", Label: "Outcome", Type: Text, Values: outcomes(ways)}}, p.answers()...)
	case "APPROVAL":
		return []*Field{{Expression: "outcome", Label: "Outcome", Type: Text, Values: named("approved", "rejected", "expired")}}
	case "DATA":
		if text(p.config["kind"]) == "validate" {
			return []*Field{{Expression: "valid", Label: "Valid", Type: Boolean}}
		}
		return variables(p.config["set"])
	case "API_CALL":
		return append([]*Field{{Expression: "status", Label: "Status", Type: Number}}, variables(p.config["response"])...)
	case "CALL_WORKFLOW":
		out := []*Field{{Expression: "executionId", Label: "Execution", Type: Text}}
		if waits, given := p.config["wait"].(bool); waits || !given {
			out = append(out, &Field{Expression: "status", Label: "Status", Type: Text, Values: named("COMPLETED")}, &Field{Expression: "phases", Label: "Results", Type: Any})
		}
		return out
	case "WEBHOOK_CALLOUT":
		return []*Field{{Expression: "status", Label: "Status", Type: Number}}
	}
	return nil
}

func outcomes(ways []way) []Value {
	var out []Value
	for _, w := range ways {
		if w.name != "" && len(out) < maxValues {
			out = append(out, Value{w.name, strings.ToUpper(w.name[:1]) + strings.ReplaceAll(w.name[1:], "_", " ")})
		}
	}
	return out
}

// variables are those that expressions compute: their types are known when they run.
func variables(set any) []*Field {
	names, _ := set.(map[string]any)
	var out []*Field
	for name := range names {
		out = append(out, &Field{Expression: name, Label: name, Type: Any})
	}
	slices.SortFunc(out, func(a, b *Field) int { return strings.Compare(a.Label, b.Label) })
	return out
}

// answers are the questions of a task's form.
func (p phase) answers() []*Field {
	raw, err := json.Marshal(p.config["form"])
	var d form.Definition
	if err != nil || json.Unmarshal(raw, &d) != nil {
		return nil
	}
	var out []*Field
	for _, f := range d.Fields {
		if f.Key != "outcome" {
			out = append(out, ofForm(f, f.Key, ""))
		}
	}
	return out
}
