package inbound

import (
	"net/http"
	"time"

	"atrium/ent/inboundwebhook"
	"atrium/internal/secret"
	"atrium/internal/webhook/preset"
)

// Verified calls verified.
func Verified(style string, value string, h http.Header, body []byte, now time.Time) bool {
	return VerifiedWith(style, preset.Signature{}, value, h, body, now)
}

// VerifiedWith calls verified with the settings of a webhook.
func VerifiedWith(style string, with preset.Signature, value string, h http.Header, body []byte, now time.Time) bool {
	return verified(styleOf(inboundwebhook.SignatureStyle(style), with), []secret.Value{secret.Value(value)}, h, body, now)
}

// At sets the time that the door's machine clock shows.
func (d *Door) At(now time.Time) { d.now = func() time.Time { return now } }

// The limits of the history, and the functions that enforce them.
var (
	KeptCalls    = keptCalls
	DeleteExcess = deleteExcess
)

// RefusedEntries is how many audit entries calls with a wrong signature leave in a minute.
var RefusedEntries = refusalLimit.PerMinute

// UnreadCalls is how many calls that were too large the history gets in a minute.
var UnreadCalls = unreadLimit.PerMinute
