package provider

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"atrium/internal/identity"
)

// browserCookie binds authorization requests to the browser that sent them. So an attacker can neither have another person
// answer the attacker's request (login CSRF), nor answer a request of another browser. The __Host- prefix keeps other hosts of
// the domain from setting the cookie.
const browserCookie = "__Host-atrium-authorize"

// browserTokenLen is the length of the cookie's value: 52 characters, 256 bits.
const browserTokenLen = 52

// bind returns the SHA-256 of the browser's cookie, and sets the cookie if the browser has none. One cookie serves all requests
// of a browser, so several tabs can sign in at once.
func bind(w http.ResponseWriter, r *http.Request) []byte {
	if hash := browserHash(r); hash != nil {
		return hash
	}
	token := newToken()
	http.SetCookie(w, &http.Cookie{
		Name: browserCookie, Value: token, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
	return identity.HashOf(token)
}

// browserHash returns the SHA-256 of the browser's cookie; nil without one. A request with two such cookies counts as one
// without: somebody else set one of them.
func browserHash(r *http.Request) []byte {
	cookies := r.CookiesNamed(browserCookie)
	if len(cookies) != 1 || len(cookies[0].Value) != browserTokenLen {
		return nil
	}
	return identity.HashOf(cookies[0].Value)
}

// sameBrowser compares two hashes in constant time; false when one is missing.
func sameBrowser(a, b []byte) bool {
	return len(a) == sha256.Size && subtle.ConstantTimeCompare(a, b) == 1
}

// newToken returns a secret of 256 bits as 52 characters that need no escaping in URLs and forms.
func newToken() string { return rand.Text() + rand.Text() }
