package websession

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"atrium/internal/authn"
)

// newValue returns a new value of the session's cookie, and what is kept of it.
func newValue() (value string, hash []byte) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	value = base64.RawURLEncoding.EncodeToString(raw)
	return value, hashOf(value)
}

func hashOf(value string) []byte {
	sum := sha256.Sum256([]byte(value))
	return sum[:]
}

// current returns the hash of the browser's session cookie; nil without one. A cookie that came twice is none: one of
// them is somebody else's.
func current(r *http.Request) []byte {
	cookies := r.CookiesNamed(authn.SessionCookie)
	if len(cookies) != 1 || len(cookies[0].Value) != authn.SessionValueLen {
		return nil
	}
	return hashOf(cookies[0].Value)
}

// setCookie gives the browser a cookie for this host alone. Without a lifetime it ends with the browser; a negative one
// takes it away. Lax: a link from elsewhere finds its reader signed in, a form from elsewhere does not.
func setCookie(w http.ResponseWriter, name, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
