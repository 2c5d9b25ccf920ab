package id

import (
	"time"

	"github.com/google/uuid"
)

// From returns what sorts before every id of the prefix that was made at t or later, by the clock of the machine that made
// it. It is no id itself.
func From(prefix string, t time.Time) string {
	var u uuid.UUID
	ms := uint64(max(0, t.UnixMilli())) // not negative
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i)) // the byte is what is wanted
	}
	return prefix + "_" + encode(u)
}
