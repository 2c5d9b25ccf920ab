package text_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"atrium/internal/platform/text"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"60": "60", "60.0": "60", "6e1": "60", "6E+1": "60", "600e-1": "60", "-0.0": "0", "0e99999999999999999999": "0", "-1.5e1": "-15",
		"9007199254740993.000": "9007199254740993", "0.0001e4": "1", "12345678901234567890": "12345678901234567890",
	} {
		got, ok := text.Whole(number)
		require.True(t, ok, number)
		require.Equal(t, want, got, number)
	}
	for _, number := range []string{"", " ", "60.5", "1e-1", "1e308", "1e99999999999999999999", "1e-99999999999999999999", "+60", "060", "0x3c", "60.", " 60", "60 ", "6 0", `"60"`, "true", "null", "[6]"} {
		_, ok := text.Whole(number)
		require.False(t, ok, number)
	}
}

// CompareNumbers agrees with exact fractions.
func TestNumberKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{{"60", "60.0", "6e1", "0.6E+2"}, {"0", "-0", "0.0", "0e7"}, {"-0.5", "-5e-1"}} {
		for _, one := range same {
			require.Equal(t, text.NumberKey(same[0]), text.NumberKey(one), one)
		}
	}
	require.NotEqual(t, text.NumberKey("9007199254740993"), text.NumberKey("9007199254740992"))
	require.NotEqual(t, text.NumberKey("1"), text.NumberKey("-1"))
	require.NotEqual(t, text.NumberKey("1"), text.NumberKey("10"))
}

func TestCompareNumbers(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, text.CompareNumbers("9007199254740993", "9007199254740992"))
	require.Equal(t, 1, text.CompareNumbers("0.1000000000000000055", "0.1"))
	require.Equal(t, -1, text.CompareNumbers("1e-99999999999999999999", "1e-300"))
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?([eE][+-]?[0-9])?`)
		a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got := text.CompareNumbers(a, b); got != x.Cmp(y) {
			rt.Fatalf("%s and %s: %d", a, b, got)
		}
		whole, ok := text.Whole(a)
		if ok != x.IsInt() || ok && (text.CompareNumbers(whole, a) != 0 || !json.Valid([]byte(whole))) {
			rt.Fatalf("%s: %s %v", a, whole, ok)
		}
	})
}

// Names are told apart without case and Unicode form, but with their accents.
func TestNameKey(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{{"Ops", "OPS"}, {"Straße", "STRASSE"}, {"Café", "CAFE\u0301"}, {"ΔΕΣΚ", "δεσκ"}, {"ΟΔΟΣ", "οδος"}} {
		require.Equal(t, text.NameKey(same[0]), text.NameKey(same[1]), same[0])
	}
	require.NotEqual(t, text.NameKey("Café"), text.NameKey("Cafe"))
}
