package history

import (
	"maps"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/internal/agent/tools"
)

// Decide returns the changes that the finished requests suggest for a new one. It keeps a team, an assignee and tags that the
// request already has.
func Decide(c *Corpus, r *ent.Request, h Finished) []tools.Change {
	words := WordsOf(r)
	near := c.Nearest(words)
	var out []tools.Change
	add := func(field string, from any, g Guess) { out = append(out, ChangeBy(field, from, g)) }
	there := func(id *string) string {
		if id == nil || !h.Present[*id] {
			return ""
		}
		return *id
	}
	if r.TeamID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.TeamID) }); ok {
			add("teamId", nil, g)
		}
	}
	if r.AssigneeID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.AssigneeID) }); ok {
			add("assigneeId", nil, g)
		}
	}
	if g, ok := c.guess(words, near, func(r *ent.Request) string { return string(r.Priority) }); ok && g.Value != string(r.Priority) {
		add("priority", string(r.Priority), g)
	}
	if tags, g := c.tags(r, words, near); len(tags) > 0 {
		from := map[string]string{}
		for k, v := range r.Tags {
			from[k], tags[k] = v, v
		}
		change := ChangeBy("tags", from, g)
		change.To = tags
		out = append(out, change)
	}
	return out
}

// DecideOffering returns the offering that the finished requests suggest for a new one by its text alone; false for none, and for
// the one that it has. The nearest request must share two words with it: where all finished requests are of one offering, a single
// common word would make that certain.
func DecideOffering(c *Corpus, r *ent.Request, h Finished) (Guess, bool) {
	words := writtenWords(r)
	near := c.Nearest(words)
	if len(near) == 0 || shared(words, near[0].counts) < 2 {
		return Guess{}, false
	}
	g, ok := c.guess(words, near, func(r *ent.Request) string {
		if !h.Present[r.OfferingID] {
			return ""
		}
		return r.OfferingID
	})
	return g, ok && g.confidence >= sure && g.Value != r.OfferingID
}

// shared returns how many words two requests have in common.
func shared(a, b map[string]float64) (n int) {
	for w := range a {
		if b[w] > 0 {
			n++
		}
	}
	return n
}

// ChangeBy returns the change of a field to a guessed value.
func ChangeBy(field string, from any, to Guess) tools.Change {
	return tools.Change{
		Field: field, From: from, To: to.Value, Rationale: "because " + strings.Join(to.because, ", "), Confidence: to.confidence, Rows: to.because,
	}
}

// tags returns the tags that similar requests have and the request lacks, with the least certain guess.
func (c *Corpus) tags(r *ent.Request, words map[string]float64, near []Near) (map[string]string, Guess) {
	known := map[string]bool{}
	for _, n := range near[:min(neighbours, len(near))] {
		for k := range n.Row.Tags {
			if _, has := r.Tags[k]; !has {
				known[k] = true
			}
		}
	}
	out, least := map[string]string{}, Guess{confidence: 1}
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return r.Tags[k] }); ok {
			out[k] = g.Value
			if g.confidence <= least.confidence {
				least = g
			}
		}
	}
	return out, least
}
