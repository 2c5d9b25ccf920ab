package mail

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Mail programs turn URLs, host names without a scheme, e-mail addresses and telephone numbers into links, and some interpret
// angle brackets and Markdown as markup.
const (
	markup    = "<>[]{}`|\\^\"*_~"
	fewDigits = 6 // too few for a telephone number
)

// Defuse returns a text without anything that a mail program would turn into a link, and without markup. The text stays
// readable: "example.com" becomes "example com".
func Defuse(s string) string {
	s = norm.NFKC.String(strings.ToValidUTF8(s, "")) // full-width and small forms of dots, letters and digits become plain ones
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r), strings.ContainsRune(markup, r), r == '@', r == '\u3002', r == '\u2024':
			return ' '
		}
		return r
	}, s)
	var out strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		inside := i > 0 && i+1 < len(runes) && !unicode.IsSpace(runes[i-1]) && !unicode.IsSpace(runes[i+1])
		switch {
		case r == '.' && inside, r == '/' && (i+1 < len(runes) && runes[i+1] == '/' || i > 0 && runes[i-1] == '/'):
			out.WriteByte(' ')
		case r == ':' && inside:
			out.WriteString(": ")
		default:
			out.WriteRune(r)
		}
	}
	return numbers(out.String())
}

// numbers cuts sequences of digits that could be telephone numbers, even with separators between the digits.
func numbers(s string) string {
	var out strings.Builder
	digits := 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			if digits++; digits > fewDigits {
				continue
			}
		case !strings.ContainsRune(" -()/+.", r):
			digits = 0
		}
		out.WriteRune(r)
	}
	return out.String()
}
