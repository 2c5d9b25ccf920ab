package websession

import (
	"encoding/base64"
	"net/http"
)

// hintCookie holds the ID token by which another issuer signed the person in, for the id_token_hint that signing out
// there asks for (OpenID Connect RP-Initiated Logout 1.0): without it the person is asked, or sent nowhere. The browser
// keeps it sealed, and shows it where it is needed alone.
const hintCookie = "__Secure-atrium_id_token"

// hintSeal binds the cookie's ciphertext to its purpose and to the session that the token began.
func hintSeal(session []byte) []byte { return append([]byte("websession id token/"), session...) }

// keepHint gives the browser the ID token of the session with a cookie's hash. One that is too long for a cookie is not
// kept.
func (s *Server) keepHint(w http.ResponseWriter, session []byte, idToken string) error {
	if s.embedded != nil {
		return nil // it ends sign-ins itself
	}
	sealed, err := s.engine.Sealer.Seal([]byte(idToken), hintSeal(session))
	if err != nil {
		return err
	}
	value := base64.RawURLEncoding.EncodeToString(sealed)
	if len(value) > maxCookie {
		dropHint(w)
		return nil
	}
	setHint(w, value, 0)
	return nil
}

// hint returns the ID token of the browser's session; empty when there is none.
func (s *Server) hint(r *http.Request) string {
	cookies, session := r.CookiesNamed(hintCookie), current(r)
	if len(cookies) != 1 || session == nil {
		return ""
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookies[0].Value)
	if err != nil {
		return ""
	}
	token, err := s.engine.Sealer.Unseal(sealed, hintSeal(session))
	if err != nil {
		return "" // another session's
	}
	return string(token)
}

func dropHint(w http.ResponseWriter) { setHint(w, "", -1) }

func setHint(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: hintCookie, Value: value, Path: pathLogout, MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
