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

// letters replaces the letters that Unicode does not decompose into one of a–z and a mark: Latin ones, and those of Greek and Cyrillic,
// as passports write them. To leave these out would make another word of a name: mega of Ωmega.
var letters = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h", "ŧ", "t",
	"α", "a", "β", "v", "γ", "g", "δ", "d", "ε", "e", "ζ", "z", "η", "i", "θ", "th", "ι", "i", "κ", "k", "λ", "l", "μ", "m", "ν", "n", "ξ", "x",
	"ο", "o", "π", "p", "ρ", "r", "σ", "s", "ς", "s", "τ", "t", "υ", "y", "φ", "f", "χ", "ch", "ψ", "ps", "ω", "o",
	"а", "a", "б", "b", "в", "v", "г", "g", "ґ", "g", "д", "d", "ђ", "dj", "е", "e", "є", "ie", "ж", "zh", "з", "z", "и", "i", "і", "i", "ј", "j",
	"к", "k", "л", "l", "љ", "lj", "м", "m", "н", "n", "њ", "nj", "о", "o", "п", "p", "р", "r", "с", "s", "т", "t", "ћ", "c", "у", "u", "ф", "f",
	"х", "kh", "ц", "ts", "ч", "ch", "џ", "dz", "ш", "sh", "щ", "shch", "ъ", "", "ы", "y", "ь", "", "э", "e", "ю", "iu", "я", "ia",
)

// Slug derives a slug from a name: the letters a–z without marks (Élan becomes elan, straße strasse, Ωmega omega) and digits, and a
// single hyphen in place of everything else, at most 63 characters. For a name without letters or digits that it knows it returns the
// fallback with a short hash of the name, so that two such names have different slugs.
func Slug(name, fallback string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range letters.Replace(norm.NFKD.String(strings.ToLower(name))) {
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
