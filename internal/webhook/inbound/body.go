package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"atrium/ent/inboundwebhook"
	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// payload begins the form as which GitHub sends JSON unless it is told otherwise, and Slack what people do with messages.
const (
	payload      = payloadField + "="
	payloadField = "payload"
)

// checkType returns unsupported_media_type unless a call's headers say that its body is JSON, or what the senders of a style send
// instead: forms of GitHub and Slack, and JSON that SNS calls text.
func checkType(style inboundwebhook.SignatureStyle, h http.Header) error {
	if err := gate.Unencoded(h); err != nil {
		return err
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !isJSON(media) && !isForm(style, media) && !isText(style, media) || !isUTF8(params["charset"]) {
		return apperr.New(apperr.UnsupportedMediaType, "Send Content-Type: application/json.")
	}
	return nil
}

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

func isForm(style inboundwebhook.SignatureStyle, media string) bool {
	return (style == inboundwebhook.SignatureStyleGithub || style == inboundwebhook.SignatureStyleSlack) && media == "application/x-www-form-urlencoded"
}

func isText(style inboundwebhook.SignatureStyle, media string) bool {
	return style == inboundwebhook.SignatureStyleSns && media == "text/plain"
}

// sendsForm reports whether a call's headers say that its body is a form, in a style whose senders send some.
func sendsForm(style inboundwebhook.SignatureStyle, h http.Header) bool {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type")) //nolint:errcheck // checkType has read it
	return isForm(style, media)
}

// isUTF8 reports whether a charset is one of UTF-8's names, or not given: JSON is UTF-8.
func isUTF8(charset string) bool {
	if charset == "" {
		return true
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		return false
	}
	name, err := htmlindex.Name(e)
	return err == nil && name == "utf-8"
}

// content is the body of a call.
type content struct {
	text  json.RawMessage
	value any
	sent  []byte // what the history shows: the bytes that were sent, or the JSON made of them where they hold a credential
}

// decode returns the JSON in a call's body, without a byte-order mark, and its value. Half a surrogate pair stays in the JSON as it
// was sent. A form becomes the JSON in its field payload, or in the style slack an object of its fields; one of GitHub's is known by how
// it begins. Returns validation_error for a body that is neither.
func decode(style inboundwebhook.SignatureStyle, isForm bool, raw []byte) (content, error) {
	sent := raw
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if isForm && style == inboundwebhook.SignatureStyleSlack || style == inboundwebhook.SignatureStyleGithub && bytes.HasPrefix(raw, []byte(payload)) {
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return content{}, apperr.InvalidField("body", "is not a valid form")
		}
		if raw = fromForm(form); raw == nil {
			return content{}, apperr.InvalidField("body", "is a form with a value that is not in UTF-8")
		}
		if form.Has(payloadField) {
			raw = bytes.TrimPrefix([]byte(form.Get(payloadField)), []byte("\ufeff"))
		}
		if style == inboundwebhook.SignatureStyleSlack {
			sent = raw // without its token
		}
	}
	v, err := strictjson.DecodeHalves(raw)
	if err != nil {
		return content{}, apperr.InvalidField("body", "is not valid JSON: %s", err.Error())
	}
	if style == inboundwebhook.SignatureStyleSns {
		if text, value, ok := unwrap(v); ok {
			return content{text, value, text}, nil
		}
	}
	return content{raw, v, sent}, nil
}

// fromForm returns an object of a form's fields, each with its first value; nil if one is not in UTF-8. Slack's old verification token is a
// credential.
func fromForm(form url.Values) []byte {
	fields := make(map[string]string, len(form))
	for name, values := range form {
		if name != "token" && len(values) > 0 {
			if !utf8.ValidString(name) || !utf8.ValidString(values[0]) {
				return nil
			}
			fields[name] = values[0]
		}
	}
	raw, _ := json.Marshal(fields) // texts always encode
	return raw
}
