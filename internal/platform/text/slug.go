package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug is the maximum length of a slug in bytes.
const maxSlug = 63

// letters replaces the letters of Latin scripts that Unicode does not decompose into a plain letter and a mark.
var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h", "ŧ", "t")

// Slug derives a slug from a name: the letters a–z without marks (Élan becomes elan, straße becomes strasse) and digits, and a
// single hyphen in place of everything else, at most 63 characters. For a name without letters or digits it returns the
// fallback with a short hash of the name, so that two such names have different slugs.
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
	s := cutSlug(b.String(), maxSlug)
	if s == "" {
		sum := sha256.Sum256([]byte(name))
		return fallback + "-" + hex.EncodeToString(sum[:4])
	}
	return s
}

// NumberedSlug appends a number to a slug, which is cut so that both fit into 63 characters.
func NumberedSlug(slug string, n int) string {
	suffix := "-" + strconv.Itoa(n)
	return cutSlug(slug, maxSlug-len(suffix)) + suffix
}

func cutSlug(s string, maxLength int) string {
	return strings.TrimRight(s[:min(len(s), maxLength)], "-")
}
