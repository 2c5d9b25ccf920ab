package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold returns a word as it is compared: without case, marks and differences of compatibility (ﬁ is fi, ß is ss, ё is е, Ａ is a). Only
// letters and digits remain.
func fold(s string) string {
	if lower, ok := asciiLower(s); ok {
		return lower
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(cases.Fold().String(norm.NFKD.String(s))) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// asciiLower is fold for ASCII; false for other texts.
func asciiLower(s string) (string, bool) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
	}
	return strings.ToLower(s), true
}

// cut returns at most the first maxToken characters.
func cut(s string) string {
	if len(s) <= maxToken {
		return s
	}
	n := 0
	for i := range s {
		if n == maxToken {
			return s[:i]
		}
		n++
	}
	return s
}
