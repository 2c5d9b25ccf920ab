package gate

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
)

// Error is the body of every refusal.
type Error struct {
	Code       apperr.Code     `json:"error" doc:"What went wrong, for programs."`
	Message    string          `json:"message" doc:"What went wrong, for people."`
	Details    []apperr.Detail `json:"details,omitempty" doc:"One row per faulty field, on validation errors."`
	Reason     string          `json:"reason,omitempty" doc:"On 403: the scope, role or policy that decided."`
	DecisionID string          `json:"decisionId,omitempty" doc:"On 403: the decision, for the company's admins."`
	RetryAfter int             `json:"retryAfter,omitempty" doc:"On 429 and 503: seconds to wait."`
	RequestID  string          `json:"requestId,omitempty" doc:"On 500: what to quote to support."`
}

// StatusOf is the one place where error codes become HTTP statuses.
func StatusOf(code apperr.Code) int {
	switch code {
	case apperr.Validation, apperr.QueryTooComplex:
		return http.StatusBadRequest
	case apperr.Unauthorized:
		return http.StatusUnauthorized
	case apperr.Forbidden, apperr.HTTPSRequired:
		return http.StatusForbidden
	case apperr.NotFound:
		return http.StatusNotFound
	case apperr.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case apperr.Conflict:
		return http.StatusConflict
	case apperr.PreconditionFailed:
		return http.StatusPreconditionFailed
	case apperr.PayloadTooLarge:
		return http.StatusRequestEntityTooLarge
	case apperr.UnsupportedMediaType:
		return http.StatusUnsupportedMediaType
	case apperr.IdempotencyMismatch:
		return http.StatusUnprocessableEntity
	case apperr.RateLimited:
		return http.StatusTooManyRequests
	case apperr.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// The message and the wait for callers while the database is unreachable.
const (
	Away           = "The service cannot reach its data at the moment. Try again shortly."
	AwayRetryAfter = 1 // seconds
)

// Public returns the error that the caller sees. While the database is unreachable or busy, and for a call that took too long, this
// is unavailable, whatever was called, because the same call may succeed shortly.
func Public(err error) *apperr.Error {
	e := apperr.From(err)
	if e.Code != apperr.Internal {
		return e
	}
	switch {
	case store.IsUnavailable(err):
		e = apperr.Wrap(err, apperr.Unavailable, Away)
		e.RetryAfter = AwayRetryAfter
	case errors.Is(err, store.ErrBusy), errors.Is(err, context.DeadlineExceeded):
		e = apperr.Busy(err)
	}
	return e
}

// statusCallerLeft is the status, in logs and metrics, of a call whose caller closed the connection before the answer. The number
// is nginx's.
const statusCallerLeft = 499

// CallerLeft reports whether the caller of ctx has closed the connection. Its queries are cancelled then, so that errors which
// follow are no faults of the service.
func CallerLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// BodyOf returns the body of a refusal.
func BodyOf(e *apperr.Error) Error {
	return Error{Code: e.Code, Message: e.Message, Details: e.Details, Reason: e.Reason, DecisionID: e.DecisionID, RetryAfter: e.RetryAfter}
}

// Fail answers with an error. Its cause appears only in the log.
func Fail(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	body := BodyOf(Public(err))
	status := WriteErrorHeaders(log, w, r, err)
	if status == http.StatusInternalServerError {
		body.RequestID = RequestID(w)
	}
	b, merr := json.Marshal(body)
	if merr != nil {
		b = []byte(`{"error":"internal_error","message":"Something went wrong on our side."}`)
		status = http.StatusInternalServerError
	}
	Send(w, status, b)
}

// WriteErrorHeaders logs an error, sets its headers, and returns its status. Doors call it if their errors have another body than
// Fail's.
func WriteErrorHeaders(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) int {
	e := Public(err)
	status := StatusOf(e.Code)
	switch {
	case apperr.CodeOf(err) == apperr.Internal && CallerLeft(r.Context()):
		status = statusCallerLeft
	case apperr.CodeOf(err) == apperr.Internal: // including errors that Public turns into unavailable
		log.ErrorContext(r.Context(), "request failed", "error", err, "requestId", RequestID(w), "method", r.Method, "path", r.URL.Path)
	case log.Enabled(r.Context(), slog.LevelDebug):
		log.DebugContext(r.Context(), "request refused", "error", err, "requestId", RequestID(w), "method", r.Method, "path", r.URL.Path)
	}
	if status == http.StatusUnauthorized {
		challenge := `Bearer realm="atrium"`
		if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
			challenge += `, error="invalid_token"` // RFC 6750, 3.1
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	return status
}

// Send writes a JSON answer.
func Send(w http.ResponseWriter, status int, body []byte) {
	SendAs(w, status, "application/json", body)
}

// SendAs writes an answer of another media type, such as one that is made of JSON.
func SendAs(w http.ResponseWriter, status int, mediaType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may have closed the connection
}

// RequestID returns the id that Front gave the call which w answers.
func RequestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }
