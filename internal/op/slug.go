package op

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// maxSlug is the length of the longest slug.
const maxSlug = 63

// Slug makes a slug of a name: letters a–z and digits, everything else as single hyphens, at most 63 characters;
// of a name without any of those, the fallback with a short hash of the name, so that two such names get two slugs.
func Slug(name, fallback string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(name) {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if hyphen && b.Len() > 0 {
				b.WriteByte('-')
			}
			hyphen = false
			b.WriteRune(r)
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
