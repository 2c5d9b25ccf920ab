package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Class is the kind of a failed call. The values are stable: metrics and the stored history contain them.
type Class string

// The classes.
const (
	ClassDNS      Class = "dns"             // the host name does not resolve
	ClassRefused  Class = "refused_address" // the guard refused the address
	ClassConnect  Class = "connect"         // the connection was refused, or there is no route
	ClassTLS      Class = "tls"             // the certificate or the handshake failed
	ClassTimeout  Class = "timeout"         // no complete answer within the limit
	ClassReset    Class = "reset"           // the connection ended before the answer
	ClassHeader   Class = "header"          // the answer's header is too large
	ClassProtocol Class = "protocol"        // the answer is not HTTP
	ClassURL      Class = "url"             // the URL is not https
	ClassStopped  Class = "stopped"         // the caller stopped the call: this node shuts down
)

// texts explain the classes to people. They never contain what the person did not write, such as the address that a name
// resolved to, or what listens there.
var texts = map[Class]string{
	ClassDNS:      "the host's name does not resolve",
	ClassRefused:  "the host's address is not on the public internet",
	ClassConnect:  "the host does not accept connections",
	ClassTLS:      "the TLS handshake failed: the certificate is not trusted, does not match or the versions differ",
	ClassTimeout:  "no complete answer within the time limit",
	ClassReset:    "the connection was closed before the answer was complete",
	ClassHeader:   "the answer's header is too large",
	ClassProtocol: "the answer is not HTTP",
	ClassURL:      "the URL is not https",
	ClassStopped:  "the call was stopped",
}

// Error is a call without a complete answer.
type Error struct {
	Class Class
	cause error
}

// Error returns class and cause, for logs.
func (e *Error) Error() string {
	if e.cause == nil {
		return "egress: " + string(e.Class)
	}
	return "egress: " + string(e.Class) + ": " + e.cause.Error()
}

// Text returns the class and its explanation, for the person who wrote the URL.
func (e *Error) Text() string { return string(e.Class) + ": " + texts[e.Class] }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// classify wraps an error of net/http with its class. ctx is the context of the call.
func classify(ctx context.Context, err error) *Error {
	return &Error{Class: classOf(ctx, err), cause: err}
}

func classOf(ctx context.Context, err error) Class {
	var (
		dns     *net.DNSError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		verify  *tls.CertificateVerificationError
		invalid x509.CertificateInvalidError
		timeout net.Error
	)
	switch {
	case errors.Is(err, errRefused):
		return ClassRefused
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ClassTimeout
	case ctx.Err() != nil:
		return ClassStopped
	case errors.As(err, &dns):
		return ClassDNS
	case errors.As(err, &verify), errors.As(err, &invalid), errors.As(err, &alert), errors.As(err, &record), says(err, "tls: "),
		says(err, "HTTP response to HTTPS client"):
		return ClassTLS
	case errors.As(err, &timeout) && timeout.Timeout():
		return ClassTimeout
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return ClassConnect
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		says(err, "server closed"):
		return ClassReset
	case says(err, "response headers exceeded"):
		return ClassHeader
	}
	if dialing(err) {
		return ClassConnect
	}
	return ClassProtocol
}

// says reports whether an error contains a text, for errors of net/http that have no type.
func says(err error, text string) bool { return strings.Contains(err.Error(), text) }

// dialing reports whether an error occurred before the connection existed.
func dialing(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
