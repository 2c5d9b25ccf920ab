package inbound

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"atrium/ent/inboundwebhook"
	"atrium/internal/apperr"
)

// maxKey bounds a key that a header holds, in characters.
const maxKey = 255

// signedIDs are where senders whose style signs no id of its own put the event's id into the body, which is signed.
var signedIDs = map[inboundwebhook.SignatureStyle][]string{
	inboundwebhook.SignatureStyleStripe:    {"id"},
	inboundwebhook.SignatureStyleSlack:     {"event_id"},
	inboundwebhook.SignatureStylePagerduty: {"event", "id"},
}

// keyOf returns under which key a call may be repeated; nil for none. What the sender has signed goes before headers, which
// somebody who repeats a call could change. Returns validation_error for a header that is no key.
func keyOf(name inboundwebhook.SignatureStyle, h http.Header, body any) (*string, error) {
	if path := signedIDs[name]; path != nil {
		if id := textAt(body, path); id != "" {
			sum := sha256.Sum256([]byte(id)) // of any length
			return new("event:" + hex.EncodeToString(sum[:])), nil
		}
	}
	for _, header := range []string{"webhook-id", "Idempotency-Key"} {
		values := h.Values(header)
		if len(values) == 0 {
			continue
		}
		v := values[0]
		if len(values) > 1 || v == "" || len(v) > maxKey || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' || c > '~' }) {
			return nil, apperr.InvalidField(header, "must be one text of 1 to %d printable ASCII characters", maxKey)
		}
		return new(strings.ToLower(header) + ":" + v), nil
	}
	if id := h.Get("X-Github-Delivery"); name == inboundwebhook.SignatureStyleGithub && id != "" && len(id) <= maxKey {
		return new("delivery:" + plain(id)), nil
	}
	return nil, nil // every call is another one
}

// textAt returns the text at a path of names; empty for none.
func textAt(v any, path []string) string {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	text, _ := v.(string)
	return text
}
