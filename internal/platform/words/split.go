package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a word of a text: bytes from to to.
type word struct {
	text     string // folded
	from, to int
}

// unit is what stands together in a text: the words of a compound, mostly one; or a run of a script without spaces, by its characters.
type unit struct {
	words    []word
	unspaced bool
}

// unspacedScripts put no spaces between words, or, as Hangul does, join what people search for.
var unspacedScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

const prolonged = 'ー' // belongs to both kanas

// joins reports whether a character between two words makes one compound of them.
func joins(r rune) bool { return strings.ContainsRune("@._-/:+&'’", r) }

func ofWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return r > unicode.MaxLatin1 && (r == prolonged || unicode.In(r, unspacedScripts...))
}

// split returns the units of a text in NFC, in which a character of Hangul is one.
func split(s string) func(yield func(unit) bool) {
	return func(yield func(unit) bool) {
		var u unit
		give := func() bool {
			done := u
			u = unit{}
			return len(done.words) == 0 || yield(done)
		}
		for at := 0; at < len(s); {
			r, size := utf8.DecodeRuneInString(s[at:])
			end := at + size
			switch {
			case ofWord(r) && unspaced(r):
				if len(u.words) > 0 && !u.unspaced && !give() {
					return
				}
				u.unspaced = true
				end = endOf(s, end, unicode.IsMark)
				u.add(s, at, end)
			case ofWord(r):
				if u.unspaced && !give() {
					return
				}
				end = endOf(s, end, func(r rune) bool { return ofWord(r) && !unspaced(r) })
				u.add(s, at, end)
				if joined := joint(s, end); joined > end {
					end = joined
				} else if !give() {
					return
				}
			case !give():
				return
			}
			at = end
		}
		give()
	}
}

// add appends the word of some bytes of a text. What folds to nothing, such as a mark alone, is none.
func (u *unit) add(s string, from, to int) {
	if text := cut(fold(s[from:to])); text != "" {
		u.words = append(u.words, word{text, from, to})
	}
}

// endOf returns where the characters that match end.
func endOf(s string, at int, match func(rune) bool) int {
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if !match(r) {
			break
		}
		at += size
	}
	return at
}

// joint returns where the next word of a compound begins, and at itself where none does.
func joint(s string, at int) int {
	r, size := utf8.DecodeRuneInString(s[at:])
	if !joins(r) {
		return at
	}
	if next, _ := utf8.DecodeRuneInString(s[at+size:]); ofWord(next) && !unicode.IsMark(next) && !unspaced(next) {
		return at + size
	}
	return at
}

// sequence appends the words of a unit in their order: of a script without spaces each pair of characters, and the last one alone.
func (u unit) sequence(to []string) []string {
	for i, w := range u.words {
		if u.unspaced && i+1 < len(u.words) {
			to = append(to, w.text+u.words[i+1].text)
		} else {
			to = append(to, w.text)
		}
	}
	return to
}

// runs appends the tokens for the runs of words of a compound, from two to maxRun.
func (u unit) runs(to []string) []string {
	if u.unspaced {
		return to
	}
	for i := range u.words {
		token := u.words[i].text
		for _, next := range u.words[i+1 : min(i+maxRun, len(u.words))] {
			token += "-" + next.text
			to = append(to, cut(token))
		}
	}
	return to
}
