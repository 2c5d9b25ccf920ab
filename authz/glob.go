package authz

import "strings"

// The limits of a glob.
const (
	maxGlob  = 200 // characters
	maxStars = 8
)

// glob matches whole texts: * matches any run of characters, ? one character. It goes through a text once and tracks
// the set of reached positions in the pattern as bits, so the time is linear in the text whatever the pattern.
type glob struct {
	steps map[rune]bits // the positions reached by a character, including those of every ?
	other bits          // the positions reached by any other character: those of every ?
	loops bits          // the positions before a *, which any character leaves unchanged
	end   int
}

// bits is a set of positions.
type bits []uint64

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

// newGlob reads a pattern.
func newGlob(pattern string) *glob {
	words := len(pattern)/64 + 1
	g := &glob{steps: map[rune]bits{}, other: make(bits, words), loops: make(bits, words)}
	for _, r := range pattern {
		switch r {
		case '*':
			g.loops.set(g.end)
			continue
		case '?':
			g.other.set(g.end + 1)
		default:
			if g.steps[r] == nil {
				g.steps[r] = make(bits, words)
			}
			g.steps[r].set(g.end + 1)
		}
		g.end++
	}
	for _, step := range g.steps {
		for i := range step {
			step[i] |= g.other[i]
		}
	}
	return g
}

// matches reports whether the pattern matches the whole text.
func (g *glob) matches(text string) bool {
	at := make(bits, len(g.loops))
	at.set(0)
	for _, r := range text {
		step := g.steps[r]
		if step == nil {
			step = g.other
		}
		var carry uint64
		for i, here := range at {
			at[i] = (here<<1|carry)&step[i] | here&g.loops[i]
			carry = here >> 63
		}
	}
	return at[g.end/64]>>(g.end%64)&1 == 1
}

// globFault returns the fault of a glob; empty for none.
func globFault(pattern string) string {
	switch {
	case strings.Count(pattern, "*") > maxStars:
		return "may have at most 8 stars in a glob"
	case len([]rune(pattern)) > maxGlob:
		return "may have at most 200 characters in a glob"
	}
	return ""
}
