package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"atrium/internal/platform/apperr"
)

// MaxKey limits an idempotency key, in characters.
const MaxKey = 255

// IdempotencyKey returns the key of a request that changes something, "" when it has none, and a fingerprint of its
// method, address, body and agent's run, which distinguishes it from other requests with the same key. Returns validation_error for an
// invalid key.
func IdempotencyKey(r *http.Request, raw []byte) (key string, fingerprint [32]byte, err error) {
	keys := r.Header.Values("Idempotency-Key")
	if r.Method == http.MethodGet || r.Method == http.MethodHead || len(keys) == 0 {
		return "", fingerprint, nil
	}
	if key, err = Key("Idempotency-Key", keys); err != nil {
		return "", fingerprint, err
	}
	return key, Fingerprint(r.Method, r.URL.RequestURI(), raw, r.Header.Get(RunHeader)), nil
}

// RowKey returns the idempotency key of one row of a call that has an effect on several; empty for a call without a key.
func RowKey(key, row string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(key + "\x00" + row))
	return "row/" + hex.EncodeToString(sum[:])
}

// Fingerprint returns the fingerprint of a request with a body to an address, within an agent's run if run is not empty: the same
// write in another run is another request.
func Fingerprint(method, address string, raw []byte, run string) (sum [32]byte) {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%s\n%s", method, address, raw)
	if run != "" {
		_, _ = fmt.Fprintf(h, "\n%s", run)
	}
	h.Sum(sum[:0])
	return sum
}

// Key returns the key in the values of a header. Returns validation_error unless it is one text of 1 to MaxKey printable ASCII
// characters.
func Key(header string, values []string) (string, error) {
	if len(values) != 1 || values[0] == "" || len(values[0]) > MaxKey ||
		strings.ContainsFunc(values[0], func(c rune) bool { return c < ' ' || c > '~' }) {
		return "", apperr.InvalidField(header, "must be one text of 1 to %d printable ASCII characters", MaxKey)
	}
	return values[0], nil
}
