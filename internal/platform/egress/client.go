package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"time"

	_ "golang.org/x/crypto/x509roots/fallback" // Mozilla's CAs, where the system has none: the container image
)

const (
	// Timeout is the default limit for the duration of a call, from the name lookup to the last byte of the answer.
	Timeout = 30 * time.Second

	// DefaultBody is the default limit for the bytes of an answer's body.
	DefaultBody = 1 << 10

	maxHeader    = 16 << 10         // bytes of an answer's header
	idleTimeout  = 60 * time.Second // after which an idle connection is closed
	maxIdle      = 512              // idle connections in total
	maxSessions  = 1024             // cached TLS sessions, which later connections resume
	maxIdleAHost = 100              // idle connections to one host
)

// Options are the settings of a Client.
type Options struct {
	Allow    []netip.Prefix // networks that calls may reach although the guard would refuse them
	CAFile   string         // PEM file of CAs that are trusted in addition to the system's; empty for none
	Timeout  time.Duration  // of a call without its own limit; 0 means the constant Timeout
	Resolver *net.Resolver  // nil means the system's resolver
}

// Client makes calls. Safe for concurrent use.
type Client struct {
	http    *http.Client
	guard   *Guard
	timeout time.Duration
}

// New returns a client. Returns an error when the CA file cannot be read or contains no certificate.
func New(o Options) (*Client, error) {
	roots, err := Roots(o.CAFile)
	if err != nil {
		return nil, err
	}
	guard := NewGuard(o.Allow)
	dialer := &net.Dialer{Control: guard.control, Resolver: o.Resolver, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		Proxy:       nil, // no proxy from the environment: it would dial without the guard
		DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots,
			ClientSessionCache: tls.NewLRUClientSessionCache(maxSessions), // a resumed session saves half of a handshake
		},
		DisableCompression:     true, // a compressed answer could be large when unpacked
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdleAHost,
		IdleConnTimeout:        idleTimeout,
		// HTTP/1.1 only: over HTTP/2 the transport would repeat a call by itself when the server refuses it.
		ForceAttemptHTTP2: false,
		TLSNextProto:      map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	c := &Client{
		guard: guard, timeout: o.Timeout,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if c.timeout <= 0 {
		c.timeout = Timeout
	}
	return c, nil
}

// Roots returns the system's CAs, or Mozilla's where the system has none, and those in the PEM file. Without a file it returns nil,
// which means the same without it.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil // crypto/tls uses the system's CAs for nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the CAs for outbound calls: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // the system has no CAs
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CAs for outbound calls: %s holds no certificate", file)
	}
	return roots, nil
}

// Guard returns the client's guard.
func (c *Client) Guard() *Guard { return c.guard }

// CheckURL is the CheckURL of the client's guard.
func (c *Client) CheckURL(raw string) error { return c.guard.CheckURL(raw) }

// HTTP returns the guarded client, for libraries that make their calls themselves. Every call needs a context with a deadline,
// and every body must be read with a limit.
func (c *Client) HTTP() *http.Client { return c.http }

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Limits are the limits of one call; a zero value means the client's default.
type Limits struct {
	Timeout time.Duration
	Body    int // bytes of the answer's body that are read
}

// Answer is the answer to a call.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte // at most Limits.Body
	Truncated bool   // the body is longer
}

// Do makes one call within its limits. The URL must be https. A host name that resolves to a refused address is refused at
// dialling. Returns *Error unless the answer is complete; the answer then holds the part that arrived, and Status is 0 if there
// was no header. A body counts as complete when it ends or exceeds Limits.Body.
func (c *Client) Do(ctx context.Context, req *http.Request, l Limits) (Answer, error) {
	if req.URL.Scheme != "https" {
		return Answer{}, &Error{Class: ClassURL, cause: errors.New("not an https URL")}
	}
	if l.Timeout <= 0 {
		l.Timeout = c.timeout
	}
	if l.Body <= 0 {
		l.Body = DefaultBody
	}
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	res, err := c.http.Do(req.WithContext(ctx))
	if err != nil {
		return Answer{}, classify(ctx, err)
	}
	defer res.Body.Close()
	out := Answer{Status: res.StatusCode, Header: res.Header}
	// Closing a body before its end costs the connection. That is cheaper than reading a long answer.
	out.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(l.Body)+1))
	if len(out.Body) > l.Body {
		out.Body, out.Truncated = out.Body[:l.Body], true
		return out, nil
	}
	if err == nil {
		err = ctx.Err() // the server may end its answer properly when it sees that the call was stopped
	}
	if err != nil {
		return out, classify(ctx, err)
	}
	return out, nil
}
