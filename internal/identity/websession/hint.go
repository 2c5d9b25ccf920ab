package websession

import (
	"encoding/base64"
	"net/http"
)

// hintCookie holds the ID token by which another issuer signed the person in. It is sent as id_token_hint when the person signs
// out there (OpenID Connect RP-Initiated Logout 1.0); without it, the issuer asks the person or does not redirect back. The
// cookie is sealed, and the browser sends it to the logout path only.
const hintCookie = "__Secure-atrium_id_token"

// hintSeal is the associated data of the sealed cookie. It contains the hash of the session cookie.
func hintSeal(session []byte) []byte { return append([]byte("websession id token/"), session...) }

// keepHint sets the cookie with the ID token for a session, given the hash of its session cookie. A token that is too long for
// a cookie is not stored.
func (s *Server) keepHint(w http.ResponseWriter, session []byte, idToken string) error {
	if s.embedded != nil {
		return nil // the embedded provider needs no hint
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
		return "" // it belongs to another session
	}
	return string(token)
}

func dropHint(w http.ResponseWriter) { setHint(w, "", -1) }

func setHint(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: hintCookie, Value: value, Path: pathLogout, MaxAge: maxAge, HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode,
	})
}
