package text

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// maxWhole is how many digits Whole writes: more than an int64 has.
const maxWhole = 20

// Whole returns the digits of a JSON number that is whole, however it is written: 60 for 60.0 and 6e1. False for any other text, and
// for a number with more than 20 digits.
func Whole(number string) (string, bool) {
	if !json.Valid([]byte(number)) || strings.Trim(number, "+-.0123456789eE") != "" || number == "" {
		return "", false
	}
	d := decimalOf(number)
	if d.sign == 0 {
		return "0", true
	}
	if d.point < len(d.digits) || d.point > maxWhole {
		return "", false
	}
	return strings.Repeat("-", (1-d.sign)/2) + d.digits + strings.Repeat("0", d.point-len(d.digits)), true
}

// CompareNumbers compares two JSON numbers by their digits, as cmp.Compare does: 9007199254740993 is more than 9007199254740992,
// although both are the same double.
func CompareNumbers(a, b string) int {
	x, y := decimalOf(a), decimalOf(b)
	if x.sign != y.sign {
		return cmp.Compare(x.sign, y.sign)
	}
	return x.sign * cmp.Or(cmp.Compare(x.point, y.point), cmp.Compare(x.digits, y.digits))
}

// NumberKey returns a text that is the same for all ways in which a JSON number is written, and another for every other number.
func NumberKey(number string) string {
	d := decimalOf(number)
	return strconv.Itoa(d.sign) + "." + d.digits + "e" + strconv.Itoa(d.point)
}

// decimal is the number sign × 0.digits × 10^point, without zeros at either end of the digits. Zero has the sign 0.
type decimal struct {
	sign   int
	digits string
	point  int
}

// maxExponent stands for any exponent beyond it, so that none overflows. Two numbers with such exponents compare by their digits.
const maxExponent = 1 << 40

func decimalOf(number string) decimal {
	number, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := number, 0
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		n, _ := strconv.ParseInt(number[e+1:], 10, 64) // out of range, it is the nearest int64
		mantissa, exponent = number[:e], int(min(max(n, -maxExponent), maxExponent))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	digits := strings.TrimLeft(all, "0")
	d := decimal{sign: 1, digits: strings.TrimRight(digits, "0"), point: len(whole) - (len(all) - len(digits)) + exponent}
	switch {
	case digits == "":
		return decimal{}
	case negative:
		d.sign = -1
	}
	return d
}
