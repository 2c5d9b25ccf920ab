package gate

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"atrium/internal/identity/authn"
)

// Logged selects the calls that get a line in the access log.
type Logged string

// The choices.
const (
	LogNone   Logged = "off"
	LogErrors Logged = "errors" // answers of 5xx, and calls whose answer began after more than a second
	LogAll    Logged = "all"
)

const slow = time.Second

// SetOperation sets the name of a call in the access log: an operation, or the root fields of a GraphQL document, but
// nothing that the caller can choose freely.
func SetOperation(w http.ResponseWriter, name string) {
	if rec, ok := w.(*recorder); ok {
		rec.operation = name
	}
}

// setCaller records the caller for the access log.
func setCaller(w http.ResponseWriter, cred *authn.Credential) {
	if rec, ok := w.(*recorder); ok {
		rec.principal, rec.company = cred.Principal.ID, cred.Principal.CompanyID
	}
}

// line writes a call's line in the access log, if it gets one. The line contains no path, because its ids and query
// belong to the customer, and nothing of the body.
func (g *Gate) line(ctx context.Context, rec *recorder, requestID string) {
	if g.Logged == LogErrors && (rec.outcome() >= http.StatusInternalServerError || rec.waited > slow) || g.Logged == LogAll {
		g.AccessLog.LogAttrs(ctx, slog.LevelInfo, "call",
			slog.String("requestId", requestID), orNull("principal", rec.principal), orNull("company", rec.company),
			orNull("operation", cmp.Or(rec.operation, rec.route)), slog.Int("status", rec.outcome()),
			slog.Float64("durationMs", float64(time.Since(rec.began).Microseconds())/1000), slog.Int64("bytes", rec.bytes))
	}
}

func orNull(key, s string) slog.Attr {
	if s == "" {
		return slog.Any(key, nil)
	}
	return slog.String(key, s)
}
