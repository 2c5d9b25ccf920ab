package password

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"atrium/internal/platform/apperr"
)

// MinLength and MaxLength bound a password, in code points after normalisation.
const (
	MinLength = 8
	MaxLength = 256
)

const (
	minWord = 4 // code points; shorter context words are not searched for inside a password
	minRest = 6 // code points that must remain of a password when its context words are removed
)

// product is a context word of every password.
const product = "atrium"

// Rules decide which passwords may be chosen. The zero value and nil know only the common passwords.
type Rules struct{ breached *Breached }

// NewRules returns rules with the operator's file of breached passwords; nil for none.
func NewRules(breached *Breached) *Rules { return &Rules{breached: breached} }

// Check is Rules.Check without a file of breached passwords.
func Check(plain string, about ...string) error { return (*Rules)(nil).Check(plain, about...) }

// Check returns nil for a password that may be chosen. Otherwise it returns validation_error for the field password: the
// password is too short or too long, a repetition or a sequence, common, breached, or little more than known facts about the
// person. about holds these facts: e-mail address, name, company. Any other error comes from reading the file or the list.
func (r *Rules) Check(plain string, about ...string) error {
	refuse := func(format string, args ...any) error { return apperr.InvalidField("password", format, args...) }
	if len(plain) > maxBytes {
		return refuse("must have at most %d characters", MaxLength)
	}
	if !utf8.ValidString(plain) {
		return refuse("must be valid UTF-8")
	}
	normal := norm.NFKC.String(plain)
	switch n := utf8.RuneCountInString(normal); {
	case n < MinLength:
		return refuse("must have at least %d characters", MinLength)
	case n > MaxLength:
		return refuse("must have at most %d characters", MaxLength)
	}
	folded := fold(normal)
	if monotonous(folded) {
		return refuse("must be more than a repetition or a sequence")
	}
	if obvious(folded, about) {
		return refuse("must be more than your name, e-mail address, company or the product's name")
	}
	known, err := isCommon(folded)
	if err != nil {
		return err
	}
	if !known && r != nil && r.breached != nil {
		if known, err = r.breached.Contains(normal); err != nil {
			return err
		}
	}
	if known {
		return refuse("is known from breaches or too common; choose another one")
	}
	return nil
}

// fold makes texts equal that differ only in case. text is in NFKC; lower-casing may leave that form, so it is normalised
// again.
func fold(text string) string { return norm.NFKC.String(strings.ToLower(text)) }

// monotonous reports whether the text consists of at most two different characters, or counts up or down from its first one.
func monotonous(text string) bool {
	seen := map[rune]bool{}
	up, down := true, true
	var last rune
	for i, r := range text {
		seen[r] = true
		if i > 0 {
			up, down = up && r == last+1, down && r == last-1
		}
		last = r
	}
	return len(seen) <= 2 || up || down
}

// obvious reports whether little remains of a password when the context words are removed.
func obvious(folded string, about []string) bool {
	rest := folded
	for _, word := range contextWords(about) {
		if folded == word {
			return true
		}
		if utf8.RuneCountInString(word) >= minWord {
			rest = strings.ReplaceAll(rest, word, "")
		}
	}
	return rest != folded && utf8.RuneCountInString(rest) < minRest
}

// contextWords returns the texts of about and the single words in them, folded.
func contextWords(about []string) []string {
	words := []string{product}
	for _, text := range about {
		if len(text) > 1000 {
			text = text[:1000] // limits the work
		}
		text = fold(norm.NFKC.String(strings.TrimSpace(text)))
		if text == "" {
			continue
		}
		words = append(words, text)
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return words
}
