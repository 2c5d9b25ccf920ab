package inbound

import (
	"net/http"
	"time"

	"atrium/ent/inboundwebhook"
	"atrium/internal/secret"
)

// Verified is verified.
func Verified(style string, value string, h http.Header, body []byte, now time.Time) bool {
	return verified(inboundwebhook.SignatureStyle(style), []secret.Value{secret.Value(value)}, h, body, now)
}

// At makes the door's machine show a time.
func (d *Door) At(now time.Time) { d.now = func() time.Time { return now } }

// The bounds of the history, and what deletes beyond them.
var (
	KeptCalls    = keptCalls
	DeleteExcess = deleteExcess
)

// RefusedEntries is how many audit entries a minute's calls with a wrong signature leave.
var RefusedEntries = refusalLimit.PerMinute
