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
)

const (
	// Timeout is how long a call takes at most where nobody says otherwise, from the look-up of the name to the last
	// byte of the answer.
	Timeout = 30 * time.Second

	// DefaultBody is how much of an answer's body is read where nobody says otherwise.
	DefaultBody = 1 << 10

	maxHeader    = 16 << 10         // bytes of an answer's header
	idleTimeout  = 60 * time.Second // after which a connection that nobody uses is closed
	maxIdle      = 512              // connections kept for later
	maxSessions  = 1024             // TLS sessions that a further connection resumes
	maxIdleAHost = 100              // of them to one host
)

// Options say where calls may go.
type Options struct {
	Allow    []netip.Prefix // networks that are open although the guard would refuse them
	CAFile   string         // PEM file of CAs that are trusted besides the system's; empty for none
	Timeout  time.Duration  // of a call that says nothing else; 0 means the constant
	Resolver *net.Resolver  // nil means the system's
}

// Client makes calls. Safe for concurrent use.
type Client struct {
	http    *http.Client
	guard   *Guard
	timeout time.Duration
}

// New returns a client. It fails when the CA file cannot be read or holds no certificate.
func New(o Options) (*Client, error) {
	roots, err := Roots(o.CAFile)
	if err != nil {
		return nil, err
	}
	guard := NewGuard(o.Allow)
	dialer := &net.Dialer{Control: guard.control, Resolver: o.Resolver, KeepAlive: 30 * time.Second}
	transport := &http.Transport{
		Proxy:       nil, // none from the environment: it would dial in our place
		DialContext: dialer.DialContext,
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots,
			ClientSessionCache: tls.NewLRUClientSessionCache(maxSessions), // half of a handshake
		},
		DisableCompression:     true, // a small answer stays small
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    maxIdleAHost,
		IdleConnTimeout:        idleTimeout,
		// HTTP/1.1 only: over HTTP/2 the transport repeats calls on its own when a server turns it away.
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

// Roots returns the system's CAs and those of the PEM file; nil, which means the system's, without a file.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil // crypto/tls reads nil as the system's
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the CAs for outbound calls: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without CAs of its own
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CAs for outbound calls: %s holds no certificate", file)
	}
	return roots, nil
}

// Guard returns what decides on addresses, for CheckURL when a URL is saved.
func (c *Client) Guard() *Guard { return c.guard }

// CheckURL is the guard's.
func (c *Client) CheckURL(raw string) error { return c.guard.CheckURL(raw) }

// HTTP returns the guarded client itself, for libraries that make their calls alone. Give each call's context an end,
// and read no body without a bound.
func (c *Client) HTTP() *http.Client { return c.http }

// Close closes the connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Limits bound one call; zero values stand for the client's own.
type Limits struct {
	Timeout time.Duration
	Body    int // bytes of the answer's body that are read
}

// Answer is what came back.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte // at most Limits.Body
	Truncated bool   // there was more
}

// Do makes one call within its limits. The URL must be https; a name that resolves to a refused address is refused when
// dialling. Returns *Error when no whole answer came: then the answer holds what did (Status is 0 without a header). A
// body is whole when it ends or exceeds Limits.Body.
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
	// What is left unread costs the connection, which is cheaper than reading what somebody else sends for long.
	out.Body, err = io.ReadAll(io.LimitReader(res.Body, int64(l.Body)+1))
	if len(out.Body) > l.Body {
		out.Body, out.Truncated = out.Body[:l.Body], true
		return out, nil
	}
	if err == nil {
		err = ctx.Err() // a server that hears us hang up may end its answer in good order
	}
	if err != nil {
		return out, classify(ctx, err)
	}
	return out, nil
}
