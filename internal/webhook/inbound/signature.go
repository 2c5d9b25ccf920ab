package inbound

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/secret"
	"atrium/internal/webhook/preset"
	"atrium/internal/webhook/signing"
)

// window is how far the time of a signature may differ from now, in either direction.
const window = 5 * time.Minute

// style is how a sender proves a call.
type style struct {
	// signed returns the bytes that the signature is over, the signatures that the call carries, of which one must be right, and
	// the signed time (nil if the style has none). Returns false for a call without signatures, or in another form.
	signed func(h http.Header, body []byte) (message [][]byte, signatures [][]byte, at *time.Time, ok bool)
	key    func(secret.Value) []byte // derives the key from the secret; nil: the key is the secret's bytes

	// Of a style whose calls show the secret itself: shown returns what the call shows, and shows what it has to show.
	shown func(h http.Header) (string, bool)
	shows func(secret.Value) string
}

// styles maps the names of styles to the styles. Those that the webhook's settings shape are in styleOf.
var styles = map[inboundwebhook.SignatureStyle]style{
	inboundwebhook.SignatureStyleHex:       {signed: prefixed("X-Webhook-Signature", "sha256=", 1, hex.DecodeString)},
	inboundwebhook.SignatureStyleGithub:    {signed: prefixed("X-Hub-Signature-256", "sha256=", 1, hex.DecodeString)},
	inboundwebhook.SignatureStylePagerduty: {signed: prefixed("X-Pagerduty-Signature", "v1=", maxSignatures, hex.DecodeString)},
	inboundwebhook.SignatureStyleStandard:  {signed: standard, key: standardKey},
	inboundwebhook.SignatureStyleStripe:    {signed: stripe},
	inboundwebhook.SignatureStyleSlack:     {signed: slack},
}

// styleOf returns a style with the settings of a webhook. The style sns has keys of its own (sns.go), and is no style of this table.
func styleOf(name inboundwebhook.SignatureStyle, with preset.Signature) style {
	switch name {
	case inboundwebhook.SignatureStyleHeader:
		read := hex.DecodeString
		if op.Or(with.Encoding, preset.Hex) == preset.Base64 {
			read = base64.StdEncoding.DecodeString
		}
		return style{signed: prefixed(op.Or(with.Header, ""), op.Or(with.Prefix, ""), maxSignatures, read)}
	case inboundwebhook.SignatureStyleBearer:
		header, prefix := tokenHeader(with)
		return style{shown: token(header, prefix), shows: func(v secret.Value) string { return string(v) }}
	case inboundwebhook.SignatureStyleBasic:
		return style{shown: basic, shows: func(v secret.Value) string { return op.Or(with.Username, "") + ":" + string(v) }}
	}
	return styles[name]
}

// maxSignatures is how many signatures of one call are checked: a sender that rotates its secret sends two.
const maxSignatures = 8

// verified reports whether a call is proven by one of the secrets. It takes the same time for a call without a signature as for one
// with a wrong signature, and computes one MAC of the body for each secret, whatever the style.
func verified(s style, secrets []secret.Value, h http.Header, body []byte, now time.Time) bool {
	message, signatures, at, ok := [][]byte{body}, [][]byte{make([]byte, sha256.Size)}, (*time.Time)(nil), false
	var given string
	if s.signed != nil {
		if m, sigs, when, found := s.signed(h, body); found {
			message, signatures, at, ok = m, sigs, when, true
		}
	} else if s.shown != nil {
		given, ok = s.shown(h)
	}
	right := false
	for _, value := range secrets {
		key := []byte(value)
		if s.key != nil {
			key = s.key(value)
		}
		sum := macOf(key, message...)
		for _, signature := range signatures {
			right = hmac.Equal(sum, signature) || right
		}
		if s.shows != nil {
			right = hmac.Equal(macOf(blinding, []byte(given)), macOf(blinding, []byte(s.shows(value)))) || right
		}
	}
	return ok && right && (at == nil || at.Sub(now).Abs() <= window)
}

func macOf(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// blinding is a key of this process. Texts are compared by their MACs, so that the time says neither where they differ nor how long the
// secret is.
var blinding = []byte(rand.Text())

// only returns the value of a header that the call has exactly once.
func only(h http.Header, name string) (string, bool) {
	values := h[http.CanonicalHeaderKey(name)]
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// prefixed is the style of a header with up to most signatures of the body, each with a prefix and separated by commas; read decodes
// them.
func prefixed(header, prefix string, most int, read func(string) ([]byte, error)) func(http.Header, []byte) ([][]byte, [][]byte, *time.Time, bool) {
	return func(h http.Header, body []byte) ([][]byte, [][]byte, *time.Time, bool) {
		value, ok := only(h, header)
		if !ok {
			return nil, nil, nil, false
		}
		var signatures [][]byte
		for part := range strings.SplitSeq(value, ",") {
			if text, ok := strings.CutPrefix(strings.TrimSpace(part), prefix); ok && len(signatures) < most {
				if b, err := read(text); err == nil && len(b) == sha256.Size {
					signatures = append(signatures, b)
				}
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
