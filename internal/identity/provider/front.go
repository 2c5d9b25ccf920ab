package provider

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"

	"atrium/internal/gate"

	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// maxForm bounds a form that a program posts, in bytes.
const maxForm = 64 << 10

// posted checks a program's request before the protocol library reads it, for what RFC 6749 demands and the library does not
// check: it is a POST; the form is in the body and the query is empty, because query strings end up in logs; every parameter
// occurs once; the client identifies itself and, if secretNeeded, sends a secret.
func posted(next http.Handler, secretNeeded bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		noStore(w)
		w = &challenging{ResponseWriter: w, challenge: `Basic realm="atrium"`}
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			refuse(w, http.StatusMethodNotAllowed, oidc.ErrInvalidRequest().WithDescription("this takes POST"))
			return
		}
		if err := readForm(w, r); err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		id, secret, basic := r.BasicAuth()
		if basic {
			_, err1 := url.QueryUnescape(id)
			_, err2 := url.QueryUnescape(secret)
			if err1 != nil || err2 != nil {
				refuse(w, http.StatusUnauthorized, oidc.ErrInvalidClient().WithDescription("the Authorization header is malformed"))
				return
			}
		}
		if !basic && (r.PostForm.Get("client_id") == "" || secretNeeded && r.PostForm.Get("client_secret") == "") {
			refuse(w, http.StatusUnauthorized, oidc.ErrInvalidClient().WithDescription("the client does not say who it is, or lacks its secret"))
			return
		}
		next.ServeHTTP(w, r)
	}
}

// readForm checks and parses the form in the body.
func readForm(w http.ResponseWriter, r *http.Request) error {
	if r.URL.RawQuery != "" {
		return oidc.ErrInvalidRequest().WithDescription("parameters belong in the body")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return oidc.ErrInvalidRequest().WithDescription("the body must be application/x-www-form-urlencoded")
	}
	if err := gate.ReadForm(w, r, maxForm); err != nil {
		return oidc.ErrInvalidRequest().WithDescription("the body is malformed or too large")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 {
			return oidc.ErrInvalidRequest().WithDescription("a parameter was given more than once")
		}
		if !clean(name) || !clean(values[0]) {
			return oidc.ErrInvalidRequest().WithDescription("a parameter holds characters that are not allowed")
		}
	}
	return nil
}

// userInfoOnly checks requests to the userinfo endpoint: the token must be in the Authorization header, or in the form of a
// POST.
func userInfoOnly(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		noStore(w)
		w = &challenging{ResponseWriter: w, challenge: `Bearer realm="atrium", error="invalid_token"`}
		var err error
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			if r.URL.RawQuery != "" {
				err = oidc.ErrInvalidRequest().WithDescription("the token belongs in the Authorization header")
			}
		case http.MethodPost:
			if r.Header.Get("Content-Type") != "" {
				err = readForm(w, r)
			}
		default:
			w.Header().Set("Allow", "GET, HEAD, POST")
			refuse(w, http.StatusMethodNotAllowed, oidc.ErrInvalidRequest().WithDescription("this takes GET or POST"))
			return
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// public lets only GET and HEAD through, for public documents.
func public(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, oidc.ErrInvalidRequest().WithDescription("this takes GET"))
			return
		}
		r.Body = http.NoBody
		next.ServeHTTP(w, r)
	}
}

// noStore keeps caches from storing the answer.
func noStore(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// challenging adds the WWW-Authenticate header to answers of 401. RFC 9110 requires it, and the library leaves it out.
type challenging struct {
	http.ResponseWriter
	challenge string
}

// WriteHeader writes the status.
func (w *challenging) WriteHeader(status int) {
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", w.challenge)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer.
func (w *challenging) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refuse writes an OAuth error.
func refuse(w http.ResponseWriter, status int, err error) {
	e, ok := errors.AsType[*oidc.Error](err)
	if !ok {
		e = oidc.ErrServerError()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(e) // the caller may have closed the connection
}
