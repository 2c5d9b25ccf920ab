package mail

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Mail programs make links of addresses and host names, with or without a scheme, of e-mail addresses and of telephone
// numbers, and some take angle brackets and Markdown for markup.
const (
	markup    = "<>[]{}`|\\^\"*_~"
	fewDigits = 6 // that stand for no telephone
)

// Defuse returns a text without what a mail program would make a link of, and without markup. It stays readable: "example.com"
// becomes "example com".
func Defuse(s string) string {
	s = norm.NFKC.String(strings.ToValidUTF8(s, "")) // wide and small forms of dots, letters and digits are the plain ones
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

// numbers shortens rows of digits that could be called, whatever stands between them.
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
