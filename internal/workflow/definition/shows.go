package definition

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/desk/form"
)

// MaxShows is how many earlier results one phase may show.
const MaxShows = 20

// Shows names the phases whose results a task or an approval shows to those who work or decide it. Nil is the default: what has come since
// the last decision on the way.
type Shows []string

// shows reads config.shows: ids of phases, each once. The graph checks whether they can come before the phase.
func (f fields) shows() Shows {
	if !f.has("shows") {
		return nil
	}
	ids := Shows{}
	for i, v := range f.list("shows", 0, MaxShows) {
		at := index(f.at("shows"), i)
		switch id, ok := f.c.str(at, v); {
		case !ok:
		case !f.c.known[id]:
			f.c.fault(at, "No phase has the id %s.", quote(id))
		case slices.Contains(ids, id):
			f.c.fault(at, "The phase %s is in the list already.", quote(id))
		default:
			ids = append(ids, id)
		}
	}
	return ids
}

// shown returns the phases that p shows; nil for the default.
func (p *Phase) shown() Shows {
	switch {
	case p.Process != nil:
		return p.Process.Shows
	case p.Approval != nil:
		return p.Approval.Shows
	}
	return nil
}

// shows refuses results that no execution has when it comes to the phase that would show them: of phases that do not lead to it, and of
// those in another branch of a block around it.
func (g *graph) shows() {
	forward := g.forward()
	ahead := map[string]map[string]bool{} // of a phase: those to which it leads
	for _, p := range g.list {
		for i, id := range p.shown() {
			if ahead[id] == nil {
				ahead[id] = closure(forward, forward[id])
			}
			if apart(g.byID[id], p) || !ahead[id][p.ID] {
				g.c.fault(index(p.path+".config.shows", i), "The phase %s cannot come before this one.", quote(id))
			}
		}
	}
}

// Outline is what people read of the phases of a published definition, by their ids.
type Outline map[string]*Outlined

// Outlined is a phase of an Outline.
type Outlined struct {
	Title     string
	Type      Type
	SignedOff bool         // somebody is accountable, who decides on the outcome of its task
	Ways      int          // the transitions that leave it
	Questions []form.Field // of the form of its task
	Shows     Shows        // nil: the default
}

// OutlineOf reads the outline of a published definition. It compiles nothing, so it takes a hundredth of the time of Parse.
func OutlineOf(published []byte) (Outline, error) {
	var d struct {
		Phases []struct {
			ID, Name     string
			Type         Type
			Participants []struct{ Role string }
			Config       struct {
				Shows Shows
				Form  form.Definition
			}
		}
		Transitions []struct{ From string }
	}
	if err := json.Unmarshal(published, &d); err != nil {
		return nil, fmt.Errorf("read a published definition: %w", err)
	}
	out := make(Outline, len(d.Phases))
	for _, p := range d.Phases {
		title := p.Name
		if title == "" {
			title = InWords(p.ID)
		}
		one := &Outlined{Title: title, Type: p.Type, Questions: p.Config.Form.Fields, Shows: p.Config.Shows}
		for _, who := range p.Participants {
			one.SignedOff = one.SignedOff || p.Type == Process && who.Role == "accountable"
		}
		out[p.ID] = one
	}
	for _, t := range d.Transitions {
		if from := out[t.From]; from != nil {
			from.Ways++
		}
	}
	return out, nil
}

// InWords returns a name of a definition as people write it: unit_price and unitPrice become "Unit price".
func InWords(name string) string {
	var out strings.Builder
	before := ' '
	for _, r := range strings.ReplaceAll(name, "_", " ") {
		if before >= 'a' && before <= 'z' && r >= 'A' && r <= 'Z' {
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		before = r
	}
	runes := []rune(strings.ToLower(out.String()))
	return strings.ToUpper(string(runes[:min(1, len(runes))])) + string(runes[min(1, len(runes)):])
}
