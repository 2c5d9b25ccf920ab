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

// Class is the kind of a failure: stable, for metrics and for whoever reads a history.
type Class string

// The classes.
const (
	ClassDNS      Class = "dns"             // the name does not resolve
	ClassRefused  Class = "refused_address" // the guard
	ClassConnect  Class = "connect"         // nobody listens, or there is no way to get there
	ClassTLS      Class = "tls"             // the certificate, or the handshake
	ClassTimeout  Class = "timeout"         // no whole answer within the limit
	ClassReset    Class = "reset"           // the connection ended before the answer did
	ClassHeader   Class = "header"          // the answer's header is too large
	ClassProtocol Class = "protocol"        // the answer is not HTTP
	ClassURL      Class = "url"             // what was to be called is no https URL
	ClassStopped  Class = "stopped"         // the caller gave up: this node is stopping
)

// texts are what a person is told of a class. They name nothing that the person did not write: not the address that a
// name resolved to, nor what listens there.
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

// Error is a call without a whole answer.
type Error struct {
	Class Class
	cause error
}

// Error returns class and cause; for logs.
func (e *Error) Error() string {
	if e.cause == nil {
		return "egress: " + string(e.Class)
	}
	return "egress: " + string(e.Class) + ": " + e.cause.Error()
}

// Text returns the class and what it means, for the person whose URL it was.
func (e *Error) Text() string { return string(e.Class) + ": " + texts[e.Class] }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// classify finds the class of an error of net/http. ctx is the one that the call ran under.
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

// says looks into the text of an error that net/http has no type for.
func says(err error, text string) bool { return strings.Contains(err.Error(), text) }

// dialing reports whether an error came before there was a connection.
func dialing(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}
