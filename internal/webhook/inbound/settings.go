package inbound

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/webhook/preset"
)

// settingsOf returns what a webhook's style needs besides the secret.
func settingsOf(w *ent.InboundWebhook) preset.Signature {
	s, _ := SignatureOf(w)
	return op.Or(s, preset.Signature{})
}

// SignatureOf returns the stored settings of a webhook's style; nil for none.
func SignatureOf(w *ent.InboundWebhook) (*preset.Signature, error) {
	if len(w.Signature) == 0 {
		return nil, nil
	}
	var s preset.Signature
	if err := json.Unmarshal(w.Signature, &s); err != nil {
		return nil, fmt.Errorf("read the signature settings of %s: %w", w.ID, err)
	}
	return &s, nil
}

// proof returns the lower-case name of the header that proves a webhook's calls, if its settings name one. It is never kept.
func proof(w *ent.InboundWebhook) string {
	switch w.SignatureStyle {
	case inboundwebhook.SignatureStyleHeader, inboundwebhook.SignatureStyleBearer:
		return strings.ToLower(op.Or(settingsOf(w).Header, ""))
	}
	return ""
}

// tokenHeader returns where a call of the style bearer shows the secret.
func tokenHeader(with preset.Signature) (header, prefix string) {
	header = op.Or(with.Header, "Authorization")
	if with.Prefix == nil && strings.EqualFold(header, "Authorization") {
		return header, "Bearer "
	}
	return header, op.Or(with.Prefix, "")
}

// token reads a header that shows the secret behind a prefix, in any case: RFC 9110 has schemes without case.
func token(header, prefix string) func(http.Header) (string, bool) {
	return func(h http.Header) (string, bool) {
		value, ok := only(h, header)
		if !ok || len(value) < len(prefix) || !strings.EqualFold(value[:len(prefix)], prefix) {
			return "", false
		}
		return value[len(prefix):], true
	}
}

// basic reads the name and the password of basic authentication.
func basic(h http.Header) (string, bool) {
	if _, ok := only(h, "Authorization"); !ok {
		return "", false
	}
	name, password, ok := (&http.Request{Header: h}).BasicAuth()
	return name + ":" + password, ok
}

// taken are the settings that each style takes, and whether it needs them. Styles that are not listed take none.
var taken = map[inboundwebhook.SignatureStyle]map[string]bool{
	inboundwebhook.SignatureStyleHeader: {"header": true, "prefix": false, "encoding": false},
	inboundwebhook.SignatureStyleBearer: {"header": false, "prefix": false},
	inboundwebhook.SignatureStyleBasic:  {"username": true},
	inboundwebhook.SignatureStyleSns:    {"topicArn": true},
}

var topicARN = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]{1,40}:[0-9]{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$`)

// checkSignature reports the settings that a style lacks or does not take, and those that cannot be.
func checkSignature(refs *op.Refs, style inboundwebhook.SignatureStyle, s preset.Signature) {
	given := map[string]*string{"header": s.Header, "prefix": s.Prefix, "encoding": s.Encoding, "username": s.Username, "topicArn": s.TopicARN}
	for _, name := range []string{"header", "prefix", "encoding", "username", "topicArn"} {
		needed, known := taken[style][name]
		switch value := given[name]; {
		case needed && (value == nil || *value == ""):
			refs.Fault("signature."+name, fmt.Sprintf("must be given for the style %s", style))
		case !known && value != nil:
			refs.Fault("signature."+name, fmt.Sprintf("must not be given for the style %s", style))
		}
	}
	if s.Header != nil && *s.Header != "" && (*s.Header == allHeaders || !headerName.MatchString(*s.Header)) {
		refs.Fault("signature.header", "must be the name of a header")
	}
	if s.Prefix != nil && strings.ContainsFunc(*s.Prefix, func(r rune) bool { return r < ' ' || r > '~' || r == ',' }) {
		refs.Fault("signature.prefix", "must be printable ASCII without commas")
	}
	if s.Username != nil && strings.ContainsFunc(*s.Username, func(r rune) bool { return r < ' ' || r == 0x7f || r == ':' }) {
		refs.Fault("signature.username", "must not hold colons or control characters")
	}
	if s.TopicARN != nil && *s.TopicARN != "" && !topicARN.MatchString(*s.TopicARN) {
		refs.Fault("signature.topicArn", "must be the ARN of a topic of Amazon SNS, such as arn:aws:sns:eu-central-1:123456789012:alarms")
	}
}

// storedSignature returns settings as they are stored; nil for none.
func storedSignature(s *preset.Signature) (json.RawMessage, error) {
	if s == nil || *s == (preset.Signature{}) {
		return nil, nil
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the signature settings: %w", err)
	}
	return raw, nil
}
