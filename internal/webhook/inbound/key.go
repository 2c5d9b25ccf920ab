package inbound

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"atrium/ent/inboundwebhook"
	"atrium/internal/gate"
	"atrium/internal/platform/text"
)

// signedIDs are the paths of the event's id in the body, for the styles that sign no id besides the body.
var signedIDs = map[inboundwebhook.SignatureStyle][]string{
	inboundwebhook.SignatureStyleStripe:    {"id"},
	inboundwebhook.SignatureStyleSlack:     {"event_id"},
	inboundwebhook.SignatureStylePagerduty: {"event", "id"},
	inboundwebhook.SignatureStyleSns:       {"MessageId"},
}

// deliveries are the headers in which senders of a style say which delivery a call is: GitHub, and Jira.
var deliveries = map[inboundwebhook.SignatureStyle]string{
	inboundwebhook.SignatureStyleGithub: "X-Github-Delivery", inboundwebhook.SignatureStyleHeader: "X-Atlassian-Webhook-Identifier",
}

// keyOf returns the idempotency key of a call; nil for none. An id that the sender has signed takes precedence over headers,
// which an attacker who repeats a call could change. Returns validation_error for a header that is not a valid key.
func keyOf(name inboundwebhook.SignatureStyle, h http.Header, body any) (*string, error) {
	if path := signedIDs[name]; path != nil {
		if id := textAt(body, path); id != "" {
			sum := sha256.Sum256([]byte(id)) // hashed, because ids may be of any length
			return new("event:" + hex.EncodeToString(sum[:])), nil
		}
	}
	first := "webhook-id"
	if name == inboundwebhook.SignatureStyleStandard {
		first, _, _ = standardNames(h) // the one that is signed
	}
	for _, header := range []string{first, "Idempotency-Key"} {
		values := h.Values(header)
		if len(values) == 0 {
			continue
		}
		v, err := gate.Key(header, values)
		if err != nil {
			return nil, err
		}
		return new(strings.ToLower(header) + ":" + v), nil
	}
	if id := h.Get(deliveries[name]); id != "" && len(id) <= gate.MaxKey {
		return new("delivery:" + text.Plain(id)), nil
	}
	return nil, nil // without a key no call is a repetition
}

// textAt returns the string at a path of names; "" if there is none.
func textAt(v any, path []string) string {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	text, _ := v.(string)
	return text
}
