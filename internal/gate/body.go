package gate

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"atrium/internal/platform/apperr"
)

// MaxBody limits the body of a call at a door, in bytes.
const MaxBody = 1 << 20

// ReadBody reads a JSON body, and behind a Guard counts its bytes against the limits of the caller's company: before it is read, if its
// length is known. A large one waits for a place of the company. Returns unsupported_media_type, payload_too_large, rate_limit_exceeded, unavailable, or validation_error for a body
// that breaks off.
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, apperr.New(apperr.UnsupportedMediaType, "Send Content-Type: application/json.")
	}
	if err := Unencoded(r.Header); err != nil {
		return nil, err
	}
	a, counts := r.Context().Value(admittedKey{}).(*admitted)
	if counts && r.ContentLength > 0 {
		if err := a.takeBytes(w, r, r.ContentLength); err != nil {
			return nil, err
		}
	}
	raw, err := ReadAny(w, r)
	if err == nil && counts && r.ContentLength < 0 && len(raw) > 0 {
		err = a.takeBytes(w, r, int64(len(raw)))
	}
	if err == nil && counts {
		a.leave, err = TakePlace(r.Context(), a.cred.Principal.CompanyID, len(raw))
	}
	return raw, err
}

// Unencoded returns unsupported_media_type for the headers of a body that has a content encoding.
func Unencoded(h http.Header) error {
	if enc := h.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return apperr.New(apperr.UnsupportedMediaType, "Send the body without a content encoding.")
	}
	return nil
}

// ReadAny reads a body whatever its type. Returns payload_too_large, or validation_error for a body that breaks off.
func ReadAny(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, tooLarge()
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, apperr.Wrap(err, apperr.Validation, "The body could not be read.")
	}
	return raw, nil
}

func tooLarge() error { return apperr.New(apperr.PayloadTooLarge, "The body may have 1 MiB.") }

// ReadForm parses a form of at most maxBytes into r.PostForm.
func ReadForm(w http.ResponseWriter, r *http.Request, maxBytes int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxBytes)
	return r.ParseForm()
}
