package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// finalSigma is replaced, because it is what lower-casing makes of a capital at the end of a word only.
var finalSigma = strings.NewReplacer("ς", "σ")

// Fold returns s in the form in which texts are searched, without case, accents and spelling: in capitals and back to small letters, which
// folds fully (ß is ss, ﬁ is fi), without combining marks (é is e), and in NFC. It is what PostgreSQL computes with ICU: see
// paging.Words.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = cases.Lower(language.Und).String(cases.Upper(language.Und).String(norm.NFC.String(s)))
	return norm.NFC.String(strings.Map(unaccented, norm.NFD.String(finalSigma.Replace(s))))
}

// NameKey returns s in the form in which names are told apart: full case folding in NFC, accents kept.
func NameKey(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
}

// unaccented drops the combining diacritical marks.
func unaccented(r rune) rune {
	if r >= 0x300 && r <= 0x36F {
		return -1
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
