package websession

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"

	"atrium/internal/identity"
	"atrium/internal/identity/authn"
)

// newValue returns a new value for the session cookie, and its hash, which is stored.
func newValue() (value string, hash []byte) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	value = base64.RawURLEncoding.EncodeToString(raw)
	return value, identity.HashOf(value)
}

// current returns the hash of the browser's session cookie; nil without one. A request with two such cookies counts as one
// without: somebody else set one of them.
func current(r *http.Request) []byte {
	cookies := r.CookiesNamed(authn.SessionCookie)
	if len(cookies) != 1 || len(cookies[0].Value) != authn.SessionValueLen {
		return nil
	}
	return identity.HashOf(cookies[0].Value)
}

// setCookie sets a cookie for this host only. With maxAge 0 it ends with the browser session; a negative maxAge deletes it.
// SameSite=Lax: a link from another site arrives with the cookie, a form from another site does not.
func setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
