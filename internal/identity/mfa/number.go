package mfa

import (
	"errors"
	"strings"
)

// Digits of a number, after the plus.
const (
	minDigits = 8
	maxDigits = 15
)

// ErrNumber is what ParseNumber returns for what is no telephone number.
var ErrNumber = errors.New("no telephone number")

// ParseNumber brings a telephone number to E.164. Returns ErrNumber for what is none.
func ParseNumber(typed string) (string, error) {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "", "\u00a0", "").Replace(strings.TrimSpace(typed))
	if rest, ok := strings.CutPrefix(digits, "00"); ok {
		digits = "+" + rest
	}
	rest, ok := strings.CutPrefix(digits, "+")
	if !ok || len(rest) < minDigits || len(rest) > maxDigits || rest[0] == '0' || strings.Trim(rest, "0123456789") != "" {
		return "", ErrNumber
	}
	return "+" + rest, nil
}

// LastDigits tells a number from others without showing it.
func LastDigits(number string) string { return "•• " + number[max(0, len(number)-3):] }
