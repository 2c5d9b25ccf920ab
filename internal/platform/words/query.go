package words

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxWords  = 8 // of a query; what follows is left out
	minPrefix = 2 // characters from which a word can be the beginning of others
)

// Query is what somebody searches for: rows that have every term, and none of those that are excluded.
type Query struct {
	Terms []Term
	Not   []Term
}

// Term is a word or a phrase of a query.
type Term struct {
	Tokens []string // all of them are in a row that has the term
	Phrase []string // the words that have to stand side by side; empty for one word
	Prefix bool     // the last token is the beginning of one
	Title  bool     // it has to be in the title
	Text   string   // as it was written
}

// Empty reports whether the query finds nothing: it has no word that a row must have.
func (q Query) Empty() bool { return len(q.Terms) == 0 }

// Side reports whether the query asks for words side by side, which tokens alone cannot tell.
func (q Query) Side() bool {
	side := func(t Term) bool { return len(t.Phrase) > 0 }
	return slices.ContainsFunc(q.Terms, side) || slices.ContainsFunc(q.Not, side)
}

// Parse reads what somebody wrote: words in any order, the last of which is a beginning, "words side by side", -word and -"words" for
// what must not be there, title:word. Everything else is text. A query has at most 8 words.
func Parse(s string) Query {
	p := parser{rest: norm.NFC.String(s)}
	for p.left() > 0 && p.next() {
	}
	if n := len(p.out.Terms); n > 0 && p.open && strings.TrimSpace(p.rest) == "" {
		p.out.Terms[n-1].beginning()
	}
	return p.out
}

type parser struct {
	rest  string
	out   Query
	words int
	open  bool // the last term was a word that stands for its beginning too
}

func (p *parser) left() int { return maxWords - p.words }

// next reads a word or a phrase; false at the end.
func (p *parser) next() bool {
	p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
	if p.rest == "" {
		return false
	}
	not := p.take("-")
	title := p.take("title:")
	var text string
	phrase := false
	if inner, after, closed := strings.Cut(strings.TrimPrefix(p.rest, `"`), `"`); closed && p.rest[0] == '"' {
		text, p.rest, phrase = inner, after, true
	} else if end := strings.IndexFunc(p.rest, unicode.IsSpace); end >= 0 {
		text, p.rest = p.rest[:end], p.rest[end:]
	} else {
		text, p.rest = p.rest, ""
	}
	terms := p.terms(text, phrase)
	for _, t := range terms {
		t.Title, t.Text = title, strings.Trim(text, `"`)
		if not {
			p.out.Not = append(p.out.Not, t)
		} else {
			p.out.Terms = append(p.out.Terms, t)
		}
	}
	if len(terms) > 0 {
		p.open = !phrase && !not
	}
	return true
}

// take reads a prefix, in any case, that something follows.
func (p *parser) take(prefix string) bool {
	if len(p.rest) <= len(prefix) || !strings.EqualFold(p.rest[:len(prefix)], prefix) {
		return false
	}
	if next, _ := utf8.DecodeRuneInString(p.rest[len(prefix):]); unicode.IsSpace(next) {
		return false
	}
	p.rest = p.rest[len(prefix):]
	return true
}

// terms returns the terms of a text without spaces, or the one term of a phrase.
func (p *parser) terms(text string, phrase bool) (out []Term) {
	add := func(t Term) {
		p.words += max(1, len(t.Phrase))
		out = append(out, t)
	}
	if phrase {
		if t := phraseOf(split(text), p.left()); len(t.Tokens) > 0 {
			add(t)
		}
		return out
	}
	for u := range split(text) {
		if p.left() <= 0 {
			break
		}
		if u.unspaced {
			add(phraseOf(slices.Values([]unit{u}), p.left()))
		} else {
			add(Term{Tokens: u.longest()})
		}
	}
	return out
}

// phraseOf returns the term of words side by side, at most so many.
func phraseOf(units iter.Seq[unit], most int) (t Term) {
	var last unit
	for u := range units {
		if len(t.Phrase) >= most {
			break
		}
		t.Phrase, last = u.sequence(t.Phrase), u
	}
	switch {
	case last.unspaced && len(last.words) == 1:
		t.Prefix = true // pairs begin with the character, which is a token of its own only at an end
	case last.unspaced:
		t.Phrase = t.Phrase[:len(t.Phrase)-1]
	}
	if len(t.Phrase) > most {
		t.Phrase, t.Prefix = t.Phrase[:most], false
	}
	if t.Tokens = unique(t.Phrase); len(t.Phrase) == 1 {
		t.Phrase = nil
	}
	return t
}

// longest returns the tokens for the longest runs of words of a compound, which together hold all of it.
func (u unit) longest() (tokens []string) {
	for i := 0; i == 0 || i+maxRun <= len(u.words); i++ {
		run := u.words[i:min(i+maxRun, len(u.words))]
		token := run[0].text
		for _, w := range run[1:] {
			token += "-" + w.text
		}
		tokens = append(tokens, cut(token))
	}
	return tokens
}

// beginning makes the last token one that others begin with, unless it is short or a number: 104 is not 1042.
func (t *Term) beginning() {
	last := t.Tokens[len(t.Tokens)-1]
	if utf8.RuneCountInString(last) >= minPrefix && strings.ContainsFunc(last, func(r rune) bool { return !unicode.IsNumber(r) }) && len(t.Phrase) == 0 {
		t.Prefix = true
	}
}

func unique(in []string) (out []string) {
	for _, s := range in {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
