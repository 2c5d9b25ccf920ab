package pages

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"
)

// formCookie is the cookie that forms' tokens are bound to. Like every cookie of the hosted pages it has the __Host- prefix:
// browsers refuse such a cookie from subdomains, over plain HTTP and for part of the site, so that nobody else can plant
// one.
const formCookie = "__Host-atrium_form"

const tokenBytes = 32

// NewToken returns a random value for a cookie or a link, and the SHA-256 of its bytes.
func NewToken() (value string, hash []byte) {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(b), sum[:]
}

// TokenHash returns the SHA-256 of such a value's bytes; nil for a value that NewToken did not make.
func TokenHash(value string) []byte {
	b, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(b) != tokenBytes {
		return nil
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// OnlyCookie returns the cookie's value; empty when there is none or several. One of several is not ours, and nothing tells
// which.
func OnlyCookie(r *http.Request, name string) string {
	all := r.CookiesNamed(name)
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}

// SetCookie sets a cookie until the browser is closed, or for maxAge.
func SetCookie(w http.ResponseWriter, name, value string, maxAge time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// DropCookie makes the browser delete a cookie.
func DropCookie(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

type formKey struct{}

// withForm returns the request with the value of its forms' cookie; it sets the cookie if the browser has none.
func withForm(w http.ResponseWriter, r *http.Request) *http.Request {
	value := OnlyCookie(r, formCookie)
	if TokenHash(value) == nil {
		value = NewFormCookie(w)
	}
	return r.WithContext(context.WithValue(r.Context(), formKey{}, value))
}

// FormToken returns the token for a form shown to this browser: a MAC under the value of the forms' cookie. Only somebody
// who can read the cookie can make it.
func FormToken(r *http.Request) string {
	value, _ := r.Context().Value(formKey{}).(string)
	return macOf(value)
}

// NewFormCookie invalidates all forms that the browser was shown before. Call it whenever the sign-in is renewed.
func NewFormCookie(w http.ResponseWriter) string {
	value, _ := NewToken()
	SetCookie(w, formCookie, value, 0)
	return value
}

// validForm reports whether the posted form was shown to this browser.
func validForm(r *http.Request) bool {
	value := OnlyCookie(r, formCookie)
	return TokenHash(value) != nil && hmac.Equal([]byte(r.PostFormValue("csrf")), []byte(macOf(value)))
}

func macOf(cookie string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("atrium form"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
