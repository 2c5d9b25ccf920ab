package definition

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Change is one difference between two definitions. Path is spelled like the fields of faults:
// "definition.phases[review].config.title" for a key of a phase, "definition.phases[review]" for a whole phase, and
// "definition.transitions[review.approved]" for the target of a transition. From is null for an addition, To for a
// removal.
type Change struct {
	Path string          `json:"path"`
	From json.RawMessage `json:"from"`
	To   json.RawMessage `json:"to"`
}

// Diff returns the differences between two saved definitions, ordered by path. The order of phases, transitions and
// keys has no meaning and makes no difference; lists within a phase are compared whole.
func Diff(from, to []byte) ([]Change, error) {
	before, err := parts(from)
	if err != nil {
		return nil, err
	}
	after, err := parts(to)
	if err != nil {
		return nil, err
	}
	changes := []Change{}
	compare(root, before, after, &changes)
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// parts returns a definition as a tree in which phases and transitions are objects keyed by their ids and names.
func parts(raw []byte) (map[string]any, error) {
	var d struct {
		Phases      []map[string]any
		Transitions []struct{ From, Name, To string }
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber() // preserves digits
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("read a published definition: %w", err)
	}
	out := map[string]any{}
	for _, p := range d.Phases {
		out[fmt.Sprintf(".phases[%v]", p["id"])] = p
	}
	for _, t := range d.Transitions {
		out[fmt.Sprintf(".transitions[%s.%s]", t.From, t.Name)] = t.To
	}
	return out, nil
}

// compare adds the differences below a path. An absent key and null are the same.
func compare(path string, from, to any, changes *[]Change) {
	before, was := from.(map[string]any)
	after, is := to.(map[string]any)
	if !was || !is {
		if !reflect.DeepEqual(from, to) {
			*changes = append(*changes, Change{Path: path, From: written(from), To: written(to)})
		}
		return
	}
	for key := range before {
		compare(below(path, key), before[key], after[key], changes)
	}
	for key := range after {
		if _, both := before[key]; !both {
			compare(below(path, key), nil, after[key], changes)
		}
	}
}

// below returns the path of a key; the keys of parts begin with their dot.
func below(path, key string) string {
	if path == root {
		return path + key
	}
	return path + "." + key
}

func written(v any) json.RawMessage {
	b, _ := json.Marshal(v) // it was read from JSON
	return b
}
