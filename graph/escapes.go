package graph

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	// quoted matches what may hold a quotation mark: a block string, which has no escapes, a comment, and a string.
	quoted = regexp.MustCompile(`(?s)"""(?:\\"""|.)*?"""|#[^\n\r]*|"(?:[^"\\\n\r]|\\.)*"`)
	escape = regexp.MustCompile(`\\(?:u[0-9A-Fa-f]{4}(?:\\u[dD][c-fC-F][0-9A-Fa-f]{2})?|.)`)
)

// joinSurrogates replaces the escapes of surrogate pairs in a document's strings by their characters: gqlparser would read each half
// as U+FFFD. Many programs write characters beyond U+FFFF as such pairs. Returns false for half of a pair.
func joinSurrogates(text string) (string, bool) {
	if !strings.Contains(text, `\ud`) && !strings.Contains(text, `\uD`) {
		return text, true
	}
	whole := true
	text = quoted.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '#' || strings.HasPrefix(s, `"""`) {
			return s
		}
		return escape.ReplaceAllStringFunc(s, func(e string) string {
			if e[1] != 'u' || len(e) < 6 {
				return e
			}
			first := unit(e[2:6])
			if !utf16.IsSurrogate(first) {
				if len(e) > 6 { // the other escape is half of a pair
					whole = false
				}
				return e
			}
			r := utf8.RuneError
			if len(e) > 6 {
				r = utf16.DecodeRune(first, unit(e[8:12]))
			}
			whole = whole && r != utf8.RuneError
			return string(r)
		})
	})
	return text, whole
}

// unit reads four hexadecimal digits.
func unit(hex string) rune {
	n, _ := strconv.ParseUint(hex, 16, 32) // the caller has matched the digits
	return rune(n)
}
