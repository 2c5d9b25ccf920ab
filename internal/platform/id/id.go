package id

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// New returns a new id with the given prefix ("req"). It is 27 bytes longer than the prefix.
func New(prefix string) string {
	u := uuid.Must(uuid.NewV7())
	return prefix + "_" + encode(u)
}

// Of returns the id with the given prefix that is made of texts: always the same one of the same texts in the same order.
func Of(prefix string, texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(t))))
		h.Write([]byte(t))
	}
	u := uuid.UUID(h.Sum(nil)[:16])
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // a UUIDv8, whose bits are everybody's own
	return prefix + "_" + encode(u)
}

// encode writes the 128 bits as 26 base32 digits, the first of which holds the top three bits.
func encode(u uuid.UUID) string {
	var out [26]byte
	var acc uint
	bits := 2 // 26×5 = 130 bits: two leading zero bits
	n := 0
	for _, b := range u {
		acc = acc<<8 | uint(b)
		bits += 8
		for bits >= 5 {
			bits -= 5
			out[n] = alphabet[acc>>bits&31]
			n++
		}
	}
	return string(out[:])
}

// Pattern returns the expression that ids with the given prefix match, as JSON Schema takes it.
func Pattern(prefix string) string { return "^" + prefix + "_[" + alphabet + "]{26}$" }

// Valid reports whether s has the shape of an id with the given prefix. It does not look up whether the id exists.
func Valid(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix+"_")
	if !ok || len(rest) != 26 {
		return false
	}
	for i := range len(rest) {
		if strings.IndexByte(alphabet, rest[i]) < 0 {
			return false
		}
	}
	return true
}
