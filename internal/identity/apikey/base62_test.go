package apikey

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The random part is the 32 bytes as one number: no byte is lost, and leading zeros are kept.
func TestRandomPart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		random := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "random"))
		value := build(LivePrefix, random).Value()
		got := new(big.Int)
		for _, c := range value[len(LivePrefix) : Length-checksumDigits] {
			got.Mul(got, big.NewInt(62)).Add(got, big.NewInt(int64(indexOf(c))))
		}
		require.Equal(t, random, [32]byte(got.FillBytes(make([]byte, 32))))
	})
}

func indexOf(c rune) int {
	for i, a := range alphabet {
		if a == c {
			return i
		}
	}
	return -1
}
