package inbound

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"atrium/ent/inboundwebhook"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

// window is how far the time of a signature may differ from now, in either direction.
const window = 5 * time.Minute

// style is how a sender signs a call.
type style struct {
	// signed returns the bytes that the signature is over, the signatures that the call carries, of which one must be right, and
	// the signed time (nil if the style has none). Returns false for a call without signatures, or in another form.
	signed func(h http.Header, body []byte) (message [][]byte, signatures [][]byte, at *time.Time, ok bool)
	key    func(secret.Value) []byte // derives the key from the secret; nil: the key is the secret's bytes
}

// styles maps the names of styles to the styles.
var styles = map[inboundwebhook.SignatureStyle]style{
	inboundwebhook.SignatureStyleHex:       {signed: prefixed("X-Webhook-Signature", "sha256=", 1)},
	inboundwebhook.SignatureStyleGithub:    {signed: prefixed("X-Hub-Signature-256", "sha256=", 1)},
	inboundwebhook.SignatureStylePagerduty: {signed: prefixed("X-Pagerduty-Signature", "v1=", maxSignatures)},
	inboundwebhook.SignatureStyleStandard:  {signed: standard, key: standardKey},
	inboundwebhook.SignatureStyleStripe:    {signed: stripe},
	inboundwebhook.SignatureStyleSlack:     {signed: slack},
}

// maxSignatures is how many signatures of one call are checked: a sender that rotates its secret sends two.
const maxSignatures = 8

// verified reports whether a call is signed with one of the secrets. It takes the same time for a call without a signature as for
// one with a wrong signature.
func verified(name inboundwebhook.SignatureStyle, secrets []secret.Value, h http.Header, body []byte, now time.Time) bool {
	s := styles[name]
	message, signatures, at, ok := s.signed(h, body)
	if !ok {
		message, signatures = [][]byte{body}, [][]byte{make([]byte, sha256.Size)}
	}
	right := false
	for _, value := range secrets {
		key := []byte(value)
		if s.key != nil {
			key = s.key(value)
		}
		mac := hmac.New(sha256.New, key)
		for _, part := range message {
			mac.Write(part)
		}
		sum := mac.Sum(nil)
		for _, signature := range signatures {
			right = hmac.Equal(sum, signature) || right
		}
	}
	return ok && right && (at == nil || at.Sub(now).Abs() <= window)
}

// only returns the value of a header that the call has exactly once.
func only(h http.Header, name string) (string, bool) {
	values := h[http.CanonicalHeaderKey(name)]
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// prefixed is the style of a header with up to most signatures of the body in hexadecimal, each with a prefix and separated by
// commas.
func prefixed(header, prefix string, most int) func(http.Header, []byte) ([][]byte, [][]byte, *time.Time, bool) {
	return func(h http.Header, body []byte) ([][]byte, [][]byte, *time.Time, bool) {
		value, ok := only(h, header)
		if !ok {
			return nil, nil, nil, false
		}
		var signatures [][]byte
		for part := range strings.SplitSeq(value, ",") {
			if text, ok := strings.CutPrefix(strings.TrimSpace(part), prefix); ok && len(signatures) < most {
				signatures = appendHex(signatures, text)
			}
		}
		return [][]byte{body}, signatures, nil, len(signatures) > 0
	}
}

func appendHex(signatures [][]byte, text string) [][]byte {
	if b, err := hex.DecodeString(text); err == nil && len(b) == sha256.Size {
		return append(signatures, b)
	}
	return signatures
}

// standardNames returns the names of the headers of a call in the style of Standard Webhooks. Svix, whose style it was, calls them
// svix-*.
func standardNames(h http.Header) (id, at, signature string) {
	if len(h.Values(standardwebhooks.HeaderWebhookSignature)) == 0 && len(h.Values("Svix-Signature")) > 0 {
		return "svix-id", "svix-timestamp", "svix-signature"
	}
	return standardwebhooks.HeaderWebhookID, standardwebhooks.HeaderWebhookTimestamp, standardwebhooks.HeaderWebhookSignature
}

// standard is the style of Standard Webhooks: id, time and body are signed. Each signature is in base64, after its version.
func standard(h http.Header, body []byte) ([][]byte, [][]byte, *time.Time, bool) {
	idName, atName, signatureName := standardNames(h)
	id, hasID := only(h, idName)
	at, text, hasTime := moment(h, atName)
	value, hasSignature := only(h, signatureName)
	if !hasID || !hasTime || !hasSignature || id == "" {
		return nil, nil, nil, false
	}
	var signatures [][]byte
	for part := range strings.FieldsSeq(value) {
		if text, ok := strings.CutPrefix(part, "v1,"); ok && len(signatures) < maxSignatures {
			if b, err := base64.StdEncoding.DecodeString(text); err == nil && len(b) == sha256.Size {
				signatures = append(signatures, b)
			}
		}
	}
	return [][]byte{[]byte(id), []byte("."), []byte(text), []byte("."), body}, signatures, at, len(signatures) > 0
}

// standardKey returns the key of a secret in Standard Webhooks: the base64 after whsec_, or else the secret's bytes.
func standardKey(v secret.Value) []byte {
	if text, ok := strings.CutPrefix(string(v), signing.Prefix); ok {
		if key, err := base64.StdEncoding.DecodeString(text); err == nil {
			return key
		}
	}
	return []byte(v)
}

// stripe is the style of Stripe: one header lists the time and the signatures.
func stripe(h http.Header, body []byte) ([][]byte, [][]byte, *time.Time, bool) {
	value, ok := only(h, "Stripe-Signature")
	if !ok {
		return nil, nil, nil, false
	}
	var at *time.Time
	var text string
	var signatures [][]byte
	for part := range strings.SplitSeq(value, ",") {
		switch name, v, _ := strings.Cut(strings.TrimSpace(part), "="); {
		case name == "t" && at == nil:
			at, text = unix(v), v
		case name == "v1" && len(signatures) < maxSignatures:
			signatures = appendHex(signatures, v)
		}
	}
	return [][]byte{[]byte(text), []byte("."), body}, signatures, at, at != nil && len(signatures) > 0
}

// slack is the style of Slack: the time and the signature have a header each.
func slack(h http.Header, body []byte) ([][]byte, [][]byte, *time.Time, bool) {
	at, text, hasTime := moment(h, "X-Slack-Request-Timestamp")
	value, hasSignature := only(h, "X-Slack-Signature")
	hexed, versioned := strings.CutPrefix(value, "v0=")
	signatures := appendHex(nil, hexed)
	if !hasTime || !hasSignature || !versioned || len(signatures) == 0 {
		return nil, nil, nil, false
	}
	return [][]byte{[]byte("v0:"), []byte(text), []byte(":"), body}, signatures, at, true
}

// moment reads a header that holds a Unix time in seconds.
func moment(h http.Header, name string) (at *time.Time, text string, ok bool) {
	text, ok = only(h, name)
	if at = unix(text); at == nil {
		return nil, "", false
	}
	return at, text, ok
}

// unix reads a Unix time in seconds; nil if the text is none.
func unix(text string) *time.Time {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return nil
	}
	at := time.Unix(seconds, 0)
	return &at
}
