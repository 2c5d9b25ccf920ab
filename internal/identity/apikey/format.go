package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"strings"
)

// The prefixes of keys, live and test, of equal length.
const (
	LivePrefix = "key_live_"
	TestPrefix = "key_test_"
)

// Length is the number of characters of every key.
const Length = len(LivePrefix) + randomDigits + checksumDigits

const (
	randomDigits   = 43 // 62^43 > 2^256
	checksumDigits = 6  // 62^6 > 2^32
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// ErrMalformed is the only error of Parse. It is the same for every fault and reveals nothing about the text.
var ErrMalformed = errors.New("malformed API key")

// Key is a well-formed API key. The zero Key is no key: its Value is empty.
//
// The value is behind a pointer because fmt prints unexported fields of other structs without calling their methods; of a pointer
// it prints the address. Compare Keys by Hash, not with ==.
type Key struct {
	value *string
}

// New returns a random key from the system's secure source.
func New(test bool) (Key, error) {
	var random [32]byte
	if _, err := rand.Read(random[:]); err != nil {
		return Key{}, err
	}
	prefix := LivePrefix
	if test {
		prefix = TestPrefix
	}
	return build(prefix, random), nil
}

// build returns the key of 32 random bytes, which it reads as one big-endian number.
func build(prefix string, random [32]byte) Key {
	var n [4]uint64 // most significant first
	for i := range n {
		n[i] = binary.BigEndian.Uint64(random[8*i:])
	}
	var out [Length]byte
	copy(out[:], prefix)
	for i := len(prefix) + randomDigits - 1; i >= len(prefix); i-- {
		var digit uint64
		for j := range n {
			n[j], digit = bits.Div64(digit, n[j], 62)
		}
		out[i] = alphabet[digit]
	}
	body := string(out[:Length-checksumDigits])
	sum := checksum(body)
	value := body + string(sum[:])
	return Key{&value}
}

// Parse returns the key s, or ErrMalformed unless prefix, length, alphabet and checksum are right. It does not trim spaces. A key
// that parses need not have been issued.
func Parse(s string) (Key, error) {
	if len(s) != Length || !strings.HasPrefix(s, LivePrefix) && !strings.HasPrefix(s, TestPrefix) {
		return Key{}, ErrMalformed
	}
	for i := len(LivePrefix); i < Length; i++ {
		if c := s[i]; !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return Key{}, ErrMalformed
		}
	}
	if sum := checksum(s[:Length-checksumDigits]); s[Length-checksumDigits:] != string(sum[:]) {
		return Key{}, ErrMalformed
	}
	return Key{&s}, nil
}

// checksum returns the CRC-32 of s in base62. Its loop is crc32.ChecksumIEEE over a string, because that function would need a
// copy of the key on the heap.
func checksum(s string) (digits [checksumDigits]byte) {
	crc := ^uint32(0)
	for i := range len(s) {
		crc = crc32.IEEETable[byte(crc)^s[i]] ^ crc>>8
	}
	crc = ^crc
	for i := checksumDigits - 1; i >= 0; i-- {
		digits[i] = alphabet[crc%62]
		crc /= 62
	}
	return digits
}

// Value returns the key itself. Use it only in the answer that issues the key.
func (k Key) Value() string {
	if k.value == nil {
		return ""
	}
	return *k.value
}

// Hash returns the SHA-256 of the whole value, which is what a database stores and looks up.
func (k Key) Hash() [32]byte {
	var buf [Length]byte
	return sha256.Sum256(append(buf[:0], k.Value()...))
}

// Prefix returns LivePrefix or TestPrefix; "" for the zero Key.
func (k Key) Prefix() string {
	if k.value == nil {
		return ""
	}
	return (*k.value)[:len(LivePrefix)]
}

// Last4 returns the last four characters, by which people recognise their keys. They belong to the checksum.
func (k Key) Last4() string {
	if k.value == nil {
		return ""
	}
	return (*k.value)[Length-4:]
}

// Test reports whether the key is for the sandbox.
func (k Key) Test() bool { return k.Prefix() == TestPrefix }
