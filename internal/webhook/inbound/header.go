package inbound

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"atrium/internal/platform/text"
)

// masked replaces values that the history does not store.
const masked = "***"

// credentialParts are parts of the names of headers that hold credentials.
var credentialParts = []string{"signature", "authorization", "cookie", "api-key", "apikey", "token", "secret", "password", "credential"}

// isCredential reports whether a header, by its lower-case name, holds a credential.
func isCredential(name string) bool {
	for _, part := range credentialParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// headersOf returns the headers of a call by lower-case name: kept for the workflow, without credentials, and shown for the
// history, with masked credentials.
func headersOf(h http.Header) (kept, shown map[string]string) {
	kept, shown = make(map[string]string, len(h)), make(map[string]string, len(h))
	for name, values := range h {
		name = text.Plain(strings.ToLower(name))
		if isCredential(name) {
			shown[name] = masked
			continue
		}
		kept[name] = text.Plain(strings.Join(values, ", "))
		shown[name] = kept[name]
	}
	return kept, shown
}

// withoutMasked returns the headers of the history that a workflow may read.
func withoutMasked(shown map[string]string) map[string]string {
	kept := make(map[string]string, len(shown))
	for name, value := range shown {
		if !isCredential(name) {
			kept[name] = value
		}
	}
	return kept
}

// clip returns at most the first most bytes of a body as text, cut between two characters.
func clip(body []byte, most int) string {
	if len(body) > most {
		body = body[:most]
		for n := 0; n < utf8.UTFMax && len(body) > 0; n++ {
			if r, size := utf8.DecodeLastRune(body); r != utf8.RuneError || size > 1 {
				break
			}
			body = body[:len(body)-1]
		}
	}
	return text.Plain(string(body))
}
