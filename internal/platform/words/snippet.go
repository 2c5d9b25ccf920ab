package words

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Snippet is the part of a text in which the words of a query stand.
type Snippet struct {
	Text  string
	Marks []Mark
}

// Mark is the place of a word in a snippet, in characters (Unicode code points) from its beginning.
type Mark struct{ Start, Length int }

const (
	snippetSize = 160 // characters
	snippetLead = 40  // characters before the first word
)

// Snippet returns the part of a text with the first word of the query, and all of its words in there; false when the text has none.
func (q Query) Snippet(text string) (Snippet, bool) {
	text = norm.NFC.String(text)
	marks := q.marks(text)
	if len(marks) == 0 {
		return Snippet{}, false
	}
	from := back(text, marks[0].from)
	to := len(text)
	if end := runesFrom(text, from, snippetSize); end < len(text) {
		to = end
		if blank := strings.LastIndexAny(text[from:end], " \t\n"); from+blank > marks[0].to {
			to = from + blank
		}
	}
	s := Snippet{}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	lead := utf8.RuneCountInString(b.String())
	b.WriteString(strings.Map(flat, text[from:to]))
	if to < len(text) {
		b.WriteString("…")
	}
	for _, m := range marks {
		if m.to <= to {
			s.Marks = append(s.Marks, Mark{lead + utf8.RuneCountInString(text[from:m.from]), utf8.RuneCountInString(text[m.from:m.to])})
		}
	}
	s.Text = b.String()
	return s, true
}

// flat makes a line of lines.
func flat(r rune) rune {
	if r == '\n' || r == '\t' || r == '\r' {
		return ' '
	}
	return r
}

// back returns where a snippet begins that shows what is at a place: at a word's beginning.
func back(text string, at int) int {
	from := at
	for range snippetLead {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from == 0 {
		return 0
	}
	if blank := strings.IndexAny(text[from:at], " \t\n"); blank >= 0 {
		return from + blank + 1
	}
	return from
}

// runesFrom returns where n characters from a place end.
func runesFrom(text string, from, n int) int {
	for range n {
		_, size := utf8.DecodeRuneInString(text[from:])
		from += size
	}
	return from
}

// marks returns the words of a text that the query names.
func (q Query) marks(text string) (out []word) {
	for u := range split(text) {
		for i, w := range u.words {
			if u.unspaced && i+1 < len(u.words) {
				pair := word{w.text + u.words[i+1].text, w.from, u.words[i+1].to}
				if q.names(pair.text) {
					out = merged(out, pair)
					continue
				}
			}
			if q.names(w.text) {
				out = merged(out, w)
			}
		}
	}
	return out
}

// merged appends a place, joined with the one before where they overlap.
func merged(out []word, w word) []word {
	if n := len(out); n > 0 && w.from < out[n-1].to {
		out[n-1].to = max(out[n-1].to, w.to)
		return out
	}
	return append(out, w)
}

// names reports whether a word is one of the query's, or begins with its last one.
func (q Query) names(text string) bool {
	return slices.ContainsFunc(q.Terms, func(t Term) bool {
		for i, token := range t.Tokens {
			for part := range strings.SplitSeq(token, "-") {
				if part == text {
					return true
				}
			}
			if last := token[strings.LastIndexByte(token, '-')+1:]; t.Prefix && i == len(t.Tokens)-1 && strings.HasPrefix(text, last) {
				return true
			}
		}
		return false
	})
}
