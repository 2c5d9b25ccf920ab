package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug is the length of the longest slug.
const maxSlug = 63

// letters are those of Latin scripts that are no plain letter with a mark.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h", "ŧ", "t")

// Slug makes a slug of a name: letters a–z, of which others lose their marks (Élan: elan, straße: strasse), and digits,
// everything else as single hyphens, at most 63 characters; of a name without any of those, the fallback with a short hash
// of the name, so that two such names get two slugs.
func Slug(name, fallback string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range norm.NFKD.String(letters.Replace(strings.ToLower(name))) {
		switch {
		case unicode.Is(unicode.Mn, r):
			continue // the mark of the letter before
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if hyphen && b.Len() > 0 {
				b.WriteByte('-')
			}
			hyphen = false
			b.WriteRune(unicode.ToLower(r))
		default:
			hyphen = true
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	s := b.String()
	if len(s) > maxSlug {
		s = strings.TrimRight(s[:maxSlug], "-")
	}
	if s == "" {
		sum := sha256.Sum256([]byte(name))
		return fallback + "-" + hex.EncodeToString(sum[:4])
	}
	return s
}
