package workflow

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/platform/egress"
	"atrium/internal/workflow/definition"
)

// sends returns to where the definition sends which secrets, for a comparison with another one. The hosts of a secret guard each call;
// this tells whether somebody sends a secret to where nobody has sent it before. Call it in Costly.
func (d Definition) sends() (map[string]bool, error) {
	list := d.parsed.Sends()
	if len(list) == 0 {
		return nil, nil
	}
	var raw struct{ Phases []json.RawMessage }
	if err := json.Unmarshal(d.text, &raw); err != nil {
		return nil, fmt.Errorf("read the phases: %w", err)
	}
	w := written{parsed: d.parsed, made: make([]*madeOf, len(raw.Phases))}
	for i, text := range raw.Phases {
		w.ids, w.texts = append(w.ids, d.parsed.Phases[i].ID), append(w.texts, string(text))
	}
	out := map[string]bool{}
	for _, s := range list {
		place := egress.HostName(s.Host)
		if s.Host == "" {
			place = w.whole(s.Place)
		}
		out[s.Secret+" "+place] = true
	}
	return out, nil
}

// written are the phases of a definition as their author wrote them.
type written struct {
	parsed     *definition.Definition
	ids, texts []string
	made       []*madeOf // of each phase, once it was asked for
}

// madeOf is what a phase says and which phases its expressions may read.
type madeOf struct {
	digest [sha256.Size]byte
	reads  []int
}

// whole returns the template of a host with the phases that decide what it becomes: those whose results it may read, and those whose
// results these may read. To change one of them is to change the place.
func (w *written) whole(template string) string {
	from := w.readBy(template)
	for i := 0; i < len(from); i++ {
		for _, n := range w.of(from[i]).reads {
			if !slices.Contains(from, n) {
				from = append(from, n)
			}
		}
	}
	slices.Sort(from)
	h := sha256.New()
	for _, n := range from {
		h.Write(w.of(n).digest[:])
	}
	return fmt.Sprintf("%s %x", template, h.Sum(nil))
}

func (w *written) of(n int) *madeOf {
	if w.made[n] == nil {
		w.made[n] = &madeOf{digest: sha256.Sum256([]byte(w.texts[n])), reads: append(w.readBy(w.texts[n]), w.joinedBy(n)...)}
	}
	return w.made[n]
}

// joinedBy returns the phases of the block of which a phase is the end, for its results are made of theirs; none for other phases.
func (w *written) joinedBy(n int) (list []int) {
	for i, p := range w.parsed.Phases {
		if slices.ContainsFunc(append(p.Around(), p), func(b *definition.Phase) bool { return b.Block != nil && b.Block.End == w.parsed.Phases[n] }) {
			list = append(list, i)
		}
	}
	return list
}

// readBy returns the phases whose results a text may read: expressions name them as phases.<id>, or a little otherwise.
func (w *written) readBy(text string) (list []int) {
	if !strings.Contains(text, "phases") {
		return nil
	}
	for n, id := range w.ids {
		if strings.Contains(text, id) {
			list = append(list, n)
		}
	}
	return list
}
