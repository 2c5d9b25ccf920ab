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

// Fold returns s in the form in which texts are compared without case and spelling: in capitals and back to small letters, which folds
// fully (ß is ss, ﬁ is fi), and in NFC. It is what PostgreSQL computes with ICU: see paging.ContainsFold.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = cases.Lower(language.Und).String(cases.Upper(language.Und).String(norm.NFC.String(s)))
	return norm.NFC.String(finalSigma.Replace(s))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
