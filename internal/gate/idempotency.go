package gate

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"atrium/internal/apperr"
)

// MaxKey limits an idempotency key, in characters.
const MaxKey = 255

// IdempotencyKey returns the key of a request that changes something, "" when it has none, and a fingerprint of its
// method, address and body, which distinguishes it from other requests with the same key. Returns validation_error for an
// invalid key.
func IdempotencyKey(r *http.Request, raw []byte) (key string, fingerprint [32]byte, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if r.Method == http.MethodGet || r.Method == http.MethodHead || len(keys) == 0 {
		return "", fingerprint, nil
	}
	key = keys[0]
	if len(keys) > 1 || key == "" || len(key) > MaxKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return "", fingerprint, apperr.InvalidField("Idempotency-Key", "must be one text of 1 to 255 printable ASCII characters")
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s", r.Method, r.URL.RequestURI(), raw)
	h.Sum(fingerprint[:0])
	return key, fingerprint, nil
}
