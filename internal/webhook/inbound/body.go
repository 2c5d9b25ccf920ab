package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/text/encoding/htmlindex"

	"atrium/ent/inboundwebhook"
	"atrium/internal/gate"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// payload begins the form as which GitHub sends JSON unless it is told otherwise.
const payload = "payload="

// checkType returns unsupported_media_type unless a call's headers say that its body is JSON, or GitHub's form in its style.
func checkType(style inboundwebhook.SignatureStyle, h http.Header) error {
	if err := gate.Unencoded(h); err != nil {
		return err
	}
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !isJSON(media) && !isForm(style, media) || !isUTF8(params["charset"]) {
		return apperr.New(apperr.UnsupportedMediaType, "Send Content-Type: application/json.")
	}
	return nil
}

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

func isForm(style inboundwebhook.SignatureStyle, media string) bool {
	return style == inboundwebhook.SignatureStyleGithub && media == "application/x-www-form-urlencoded"
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

// decode returns the JSON in a call's body, without a byte-order mark, and its value. Half a surrogate pair stays in the JSON as it
// was sent. Returns validation_error for a body that is not JSON.
func decode(style inboundwebhook.SignatureStyle, raw []byte) (json.RawMessage, any, error) {
	if style == inboundwebhook.SignatureStyleGithub && bytes.HasPrefix(raw, []byte(payload)) {
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, nil, apperr.InvalidField("body", "is not a valid form")
		}
		raw = []byte(form.Get(strings.TrimSuffix(payload, "=")))
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	v, err := strictjson.DecodeHalves(raw)
	if err != nil {
		return nil, nil, apperr.InvalidField("body", "is not valid JSON: %s", err.Error())
	}
	return raw, v, nil
}
