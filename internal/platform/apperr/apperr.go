package apperr

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the machine-readable error code in the responses of both APIs.
type Code string

// The codes of the API contract.
const (
	Validation           Code = "validation_error"
	Unauthorized         Code = "unauthorized"
	Forbidden            Code = "forbidden"
	HTTPSRequired        Code = "https_required"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	Conflict             Code = "conflict"
	PreconditionFailed   Code = "precondition_failed"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	IdempotencyMismatch  Code = "idempotency_mismatch"
	RateLimited          Code = "rate_limit_exceeded"
	Internal             Code = "internal_error"
	Unavailable          Code = "unavailable"
	QueryTooComplex      Code = "query_too_complex" // GraphQL only
)

// Detail describes one invalid field of the input. Field is the path under which the caller sent it ("fields.color",
// "definition.phases[review].config.title"). Message neither names the field nor repeats a refused value.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is the error that every operation returns when it refuses or fails.
type Error struct {
	Code       Code
	Message    string   // public: safe to show to the caller
	Details    []Detail // validation errors only
	Reason     string   // forbidden only: the scope, role or policy that denied the call, if the caller may know it
	DecisionID string   // forbidden only
	RetryAfter int      // rate_limit_exceeded and unavailable: whole seconds; 0 for none

	cause error
}

// Error returns code, public message and cause. It is for logs only, never for a caller.
func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the wrapped cause.
func (e *Error) Unwrap() error { return e.cause }

// New returns an error of the given code with a public message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap is New with a private cause.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), cause: cause}
}

// Unauthenticated is the error for every credential that is not valid. It does not say what is wrong with the credential, so
// that a guessing caller learns nothing.
func Unauthenticated(cause error) *Error {
	return Wrap(cause, Unauthorized, "The credential is not valid.")
}

// Busy is the error of a call that may succeed if it is made again in a second.
func Busy(cause error) *Error {
	e := Wrap(cause, Unavailable, "The service is busy. Try again shortly.")
	e.RetryAfter = 1
	return e
}

// Invalid returns a validation error with one row per invalid field. Rules write messages as predicates ("must be a number");
// Invalid turns them into sentences ("Must be a number.").
func Invalid(details ...Detail) *Error {
	for i, d := range details {
		details[i].Message = sentence(d.Message)
	}
	return &Error{Code: Validation, Message: "The request is not valid.", Details: details}
}

// sentence capitalizes the first letter and adds a full stop unless the text ends with a punctuation mark.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if !strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		s += "."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// InvalidField returns a validation error that names one field.
func InvalidField(field, format string, args ...any) *Error {
	return Invalid(Detail{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Missing returns the not_found error for a resource, spelled as in policies ("Service"). It is the same for a row that never
// existed, a deleted row and a row of another company.
func Missing(resource string) *Error {
	return New(NotFound, "%s not found.", resource)
}

// From returns err as an *Error; anything else becomes internal_error with err as its cause.
func From(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Wrap(err, Internal, "Something went wrong on our side.")
}

// CodeOf returns the code of err, or internal_error for an error that carries none.
func CodeOf(err error) Code { return From(err).Code }

// Said returns what an error says in one sentence: the first field that is wrong with the fault, or its message.
func Said(err error) string {
	e := From(err)
	if len(e.Details) > 0 {
		return e.Details[0].Field + ": " + e.Details[0].Message
	}
	return e.Message
}

// Refuses reports whether err is a refusal that a worker would meet again however often it tried.
func Refuses(err error) bool {
	switch CodeOf(err) {
	case Validation, Forbidden, NotFound, Conflict:
		return true
	default:
		return false
	}
}
