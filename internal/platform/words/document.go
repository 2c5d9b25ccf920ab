package words

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Document is what a row can be found by. Each token begins with the letter of its kind, which the caller chooses: where it stands, and who
// may find it. The zero value is empty.
type Document struct {
	tokens    map[string]bool
	sequences map[byte][][]string // by kind, a text each; nil for a document that was stored
}

// Add adds the words of a text as tokens of the kinds.
func (d *Document) Add(text string, kinds ...byte) {
	var sequence, tokens []string
	for u := range split(norm.NFC.String(text)) {
		from := len(sequence)
		sequence = u.sequence(sequence)
		tokens = u.runs(append(tokens, sequence[from:]...))
		if len(tokens) >= maxTokens {
			break
		}
	}
	for _, kind := range kinds {
		for _, token := range tokens {
			d.AddToken(kind, token)
		}
		if d.sequences == nil {
			d.sequences = map[byte][][]string{}
		}
		d.sequences[kind] = append(d.sequences[kind], sequence)
	}
}

// AddToken adds a token as it is, such as an id. A document that is full takes none.
func (d *Document) AddToken(kind byte, token string) {
	if d.tokens == nil {
		d.tokens = map[string]bool{}
	}
	if len(d.tokens) < maxTokens {
		d.tokens[string(kind)+token] = true
	}
}

// String returns the tokens, each once, with spaces between them.
func (d *Document) String() string { return strings.Join(slices.Sorted(maps.Keys(d.tokens)), " ") }

// Stored returns the document of such a string. It does not know which words stand side by side.
func Stored(tokens string) *Document {
	d := &Document{tokens: map[string]bool{}}
	for token := range strings.FieldsSeq(tokens) {
		d.tokens[token] = true
	}
	return d
}

// HasToken reports whether the document has a token as it is.
func (d *Document) HasToken(kind byte, token string) bool { return d.tokens[string(kind)+token] }

// Has reports whether the document has a term among its tokens of a kind.
func (d *Document) Has(kind byte, t Term) bool {
	for i, token := range t.Tokens {
		if !d.has(string(kind)+token, t.Prefix && i == len(t.Tokens)-1) {
			return false
		}
	}
	if len(t.Phrase) == 0 || d.sequences == nil {
		return true
	}
	return slices.ContainsFunc(d.sequences[kind], t.within)
}

func (d *Document) has(token string, prefix bool) bool {
	if d.tokens[token] || !prefix {
		return d.tokens[token]
	}
	for one := range d.tokens {
		if strings.HasPrefix(one, token) {
			return true
		}
	}
	return false
}

// within reports whether the words of the phrase stand side by side in a sequence.
func (t Term) within(sequence []string) bool {
	last := len(t.Phrase) - 1
	for i := range len(sequence) - last {
		at := sequence[i : i+last+1]
		if slices.Equal(at[:last], t.Phrase[:last]) && (at[last] == t.Phrase[last] || t.Prefix && strings.HasPrefix(at[last], t.Phrase[last])) {
			return true
		}
	}
	return false
}
