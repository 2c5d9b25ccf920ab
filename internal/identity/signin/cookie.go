package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"
)

// The cookies. The prefix makes browsers refuse them from subdomains, over plain HTTP and for part of the site, so that
// nobody else can plant one.
const (
	signInCookie = "__Host-atrium_signin" // who is signed in
	formCookie   = "__Host-atrium_form"   // what the forms' tokens are bound to
	deviceCookie = "__Host-atrium_device" // an account signed in here before
)

const tokenBytes = 32

// newToken returns a cookie's value and the SHA-256 of what it stands for.
func newToken() (value string, hash []byte) {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails
	sum := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(b), sum[:]
}

// tokenHash returns the SHA-256 of what a cookie's value stands for; nil for a value that newToken did not make.
func tokenHash(value string) []byte {
	b, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(b) != tokenBytes {
		return nil
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// onlyCookie returns the cookie's value; empty when there is none, and when there are several: one of them is not ours,
// and nothing tells which.
func onlyCookie(r *http.Request, name string) string {
	all := r.CookiesNamed(name)
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}

// setCookie sets a cookie until the browser is closed, or for maxAge.
func setCookie(w http.ResponseWriter, name, value string, maxAge time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(maxAge / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// dropCookie makes the browser forget a cookie.
func dropCookie(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

type formKey struct{}

// withForm returns the request with the value of its forms' cookie, which the browser is given where it has none.
func withForm(w http.ResponseWriter, r *http.Request) *http.Request {
	value := onlyCookie(r, formCookie)
	if tokenHash(value) == nil {
		value = newFormCookie(w)
	}
	return r.WithContext(context.WithValue(r.Context(), formKey{}, value))
}

// formToken returns what a form shown to this browser carries: a MAC under the value of the forms' cookie. Whoever cannot
// read the cookie cannot make it.
func formToken(r *http.Request) string {
	value, _ := r.Context().Value(formKey{}).(string)
	return macOf(value)
}

// newFormCookie makes the forms that the browser was shown before worthless; it is renewed together with the sign-in.
func newFormCookie(w http.ResponseWriter) string {
	value, _ := newToken()
	setCookie(w, formCookie, value, 0)
	return value
}

// validForm tells whether the posted form was shown to this browser.
func validForm(r *http.Request) bool {
	value := onlyCookie(r, formCookie)
	return tokenHash(value) != nil && hmac.Equal([]byte(r.PostFormValue("csrf")), []byte(macOf(value)))
}

func macOf(cookie string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("atrium form"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
