package mfa

import (
	"errors"
	"strings"
)

// Bounds of the number of digits after the plus.
const (
	minDigits = 8
	maxDigits = 15
)

// ParseNumber returns a telephone number in E.164 form. Returns an error when the text is not a number with a country code.
func ParseNumber(typed string) (string, error) {
	digits := strings.NewReplacer(" ", "", "-", "", "(", "", ")", "", ".", "", "/", "", "\u00a0", "").Replace(strings.TrimSpace(typed))
	if rest, ok := strings.CutPrefix(digits, "00"); ok {
		digits = "+" + rest
	}
	rest, ok := strings.CutPrefix(digits, "+")
	if !ok || len(rest) < minDigits || len(rest) > maxDigits || rest[0] == '0' || strings.Trim(rest, "0123456789") != "" {
		return "", errors.New("no telephone number")
	}
	return "+" + rest, nil
}

// LastDigits returns the last three digits of a number, masked, so that its owner can recognise it.
func LastDigits(number string) string { return "•• " + number[max(0, len(number)-3):] }
