package words

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const maxMarked = 20000 // bytes of a text that are looked at for an excerpt

// Mark is where a word that was found stands in a text: from a character to before another, counted in code points.
type Mark struct{ Start, End int }

// Excerpt is a piece of a text, on one line, with the words of a query in it.
type Excerpt struct {
	Text  string
	Marks []Mark
	Terms int // how many of the query's terms stand in it
}

// Excerpt returns the piece of a text around the first word of the query, of at most so many characters; an ellipsis stands where the text
// goes on. It has no marks where the text has none of the words.
func (q Query) Excerpt(text string, most int) Excerpt {
	if len(text) > maxMarked {
		text = strings.ToValidUTF8(text[:maxMarked], "")
	}
	text = strings.Join(strings.Fields(norm.NFC.String(text)), " ")
	spans, _ := q.spans(text)
	from := 0
	if len(spans) > 0 && utf8.RuneCountInString(text) > most {
		from = beginning(text, spans[0].Start, most/4)
	}
	piece := text[from:]
	ellipsis := ""
	if from > 0 {
		ellipsis = "…"
	}
	if end := ending(piece, most-2); end < len(piece) {
		piece = piece[:end]
		return q.marked(ellipsis + piece + "…")
	}
	return q.marked(ellipsis + piece)
}

// Marks returns where the words of the query stand in a text as it is. A text that is not in NFC has none.
func (q Query) Marks(text string) []Mark {
	if !norm.NFC.IsNormalString(text) {
		return []Mark{}
	}
	return q.marked(text).Marks
}

// beginning returns where a word begins, so many characters before a place or less.
func beginning(text string, at, before int) int {
	from := at
	for range before {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from > 0 {
		if space := strings.IndexByte(text[from:at], ' '); space >= 0 {
			from += space + 1
		}
	}
	return from
}

// ending returns where a text ends that may have so many characters: between two words, if it has any there.
func ending(text string, most int) int {
	end := len(text)
	for i := range text {
		if most--; most < 0 {
			end = i
			break
		}
	}
	if end < len(text) {
		if space := strings.LastIndexByte(text[:end], ' '); space > end/2 {
			end = space
		}
	}
	return end
}

// marked returns a whole text with its marks.
func (q Query) marked(text string) Excerpt {
	spans, terms := q.spans(text)
	out := Excerpt{Text: text, Terms: terms, Marks: make([]Mark, len(spans))}
	for i, s := range spans {
		out.Marks[i] = Mark{utf8.RuneCountInString(text[:s.Start]), utf8.RuneCountInString(text[:s.End])}
	}
	return out
}

// spans returns where the words of the query's terms stand in a text in NFC, in bytes, in order and apart, and how many terms those are.
func (q Query) spans(text string) (spans []Mark, terms int) {
	found := make([]bool, len(q.Terms))
	for u := range split(text) {
		for i, t := range q.Terms {
			at := u.spansOf(t)
			found[i] = found[i] || len(at) > 0
			spans = append(spans, at...)
		}
	}
	for _, f := range found {
		if f {
			terms++
		}
	}
	slices.SortFunc(spans, func(a, b Mark) int { return a.Start - b.Start })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out, terms
}

// spansOf returns where the tokens of a term stand in a unit.
func (u unit) spansOf(t Term) (spans []Mark) {
	is := func(token, wanted string, last bool) bool {
		return token == wanted || last && t.Prefix && strings.HasPrefix(token, wanted)
	}
	for n, wanted := range t.Tokens {
		last := n == len(t.Tokens)-1
		for i, w := range u.words {
			token := w.text
			if u.unspaced && i+1 < len(u.words) {
				token += u.words[i+1].text
				if is(token, wanted, last) {
					spans = append(spans, Mark{w.from, u.words[i+1].to})
				}
				continue
			}
			for j := i; ; j++ { // the shortest run of words that the token stands for
				if is(cut(token), wanted, last) {
					spans = append(spans, Mark{w.from, u.words[j].to})
					break
				}
				if j+1 == min(i+maxRun, len(u.words)) {
					break
				}
				token += "-" + u.words[j+1].text
			}
		}
	}
	return spans
}
