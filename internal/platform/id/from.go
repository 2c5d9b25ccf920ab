package id

import (
	"time"

	"github.com/google/uuid"
)

// From returns a lower bound for ids: every id of the prefix that is made at t or later sorts after it, by the clock of the
// machine that makes the id. The result is not itself an id.
func From(prefix string, t time.Time) string {
	var u uuid.UUID
	ms := uint64(max(0, t.UnixMilli())) // times before 1970 count as 1970
	for i := range 6 {
		u[i] = byte(ms >> (40 - 8*i)) // the conversion keeps the low eight bits
	}
	return prefix + "_" + encode(u)
}
