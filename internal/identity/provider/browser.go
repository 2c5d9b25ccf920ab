package provider

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
)

// browserCookie binds authorization requests to the browser that came with them, so that nobody can have a request of
// his own answered by somebody else (login CSRF), nor answer one that began elsewhere. The __Host- prefix keeps other
// hosts of the domain from setting it.
const browserCookie = "__Host-atrium-authorize"

// browserTokenLen is the length of the cookie's value: 52 characters, 256 bits.
const browserTokenLen = 52

// bind returns the SHA-256 of the browser's cookie, which it sets when the browser has none. One cookie serves all
// requests of a browser, so that several tabs can sign in at once.
func bind(w http.ResponseWriter, r *http.Request) []byte {
	if hash := browserHash(r); hash != nil {
		return hash
	}
	token := newToken()
	http.SetCookie(w, &http.Cookie{
		Name: browserCookie, Value: token, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
	return hashOf(token)
}

// browserHash returns the SHA-256 of the browser's cookie; nil without one. A cookie that came twice is none: one of
// them is somebody else's.
func browserHash(r *http.Request) []byte {
	cookies := r.CookiesNamed(browserCookie)
	if len(cookies) != 1 || len(cookies[0].Value) != browserTokenLen {
		return nil
	}
	return hashOf(cookies[0].Value)
}

// sameBrowser compares two hashes; false when one is missing.
func sameBrowser(a, b []byte) bool {
	return len(a) == sha256.Size && subtle.ConstantTimeCompare(a, b) == 1
}

// newToken returns a secret of 256 bits, in 52 characters that no encoding changes.
func newToken() string { return rand.Text() + rand.Text() }

// hashOf is how secrets are kept: they are random, so that no slower function is needed.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
