package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atrium/internal/platform/egress"
)

// sendTimeout bounds the sending of one mail, from dialling to the last reply.
const sendTimeout = 45 * time.Second

// errRefused is in the error of a mail that the recipient's server rejects for good.
var errRefused = errors.New("refused for good")

// errNobody is besides in the error of a mail whose address leads to nobody.
var errNobody = errors.New("the address takes no mail")

// Sender sends mails by SMTP or writes them into a folder.
type Sender interface {
	send(ctx context.Context, e *envelope) error
}

// Options say how mails are sent.
type Options struct {
	// URL is smtp://user:password@host:port (STARTTLS is required, default port 587) or smtps://… (TLS from the start, default
	// port 465). ?tls=none sends without TLS; it is meant for a server on this machine. Empty means files in Dir.
	URL string
	// From is the sender that people see, "Name <address>". The default is an address that cannot receive replies; SMTP needs
	// one.
	From string
	// Dir is the folder of the files. It is created when the first mail is written.
	Dir string
	// DKIM signs what is sent by SMTP; nil means that the server does, or nobody.
	DKIM *DKIM
	// Returns sends a mail that can be answered from the address that answers go to, so that the report of one that does not arrive comes
	// there. The SPF record of that domain must name the server.
	Returns bool
	// CAs verify the server's certificate; nil means those of the system.
	CAs *x509.CertPool
}

// Open returns the sender for o, without connecting. Its errors never contain the password in the URL.
func Open(o Options) (Sender, error) {
	if o.From == "" {
		if o.URL != "" {
			return nil, errors.New("mail: a sender's address is needed to send by SMTP")
		}
		o.From = "Atrium <no-reply@atrium.invalid>"
	}
	from, err := mail.ParseAddress(o.From)
	if err != nil {
		return nil, errors.New("mail: the sender must be written as: Name <address>")
	}
	if o.URL == "" {
		if o.Dir == "" {
			return nil, errors.New("mail: neither a server nor a folder")
		}
		return &folder{dir: o.Dir, from: from}, nil
	}
	return newServer(o, from)
}

func newServer(o Options, from *mail.Address) (*server, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("mail: the server's address is no URL (percent-encode user and password)")
	}
	s := &server{from: from, host: u.Hostname(), user: u.User.Username(), cas: o.CAs, dkim: o.DKIM, returns: o.Returns, timeout: sendTimeout}
	s.password, _ = u.User.Password()
	port := map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme]
	if port == "" || s.host == "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" {
		return nil, errors.New("mail: the server's address must be smtp://host:port or smtps://host:port")
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, errors.New("mail: the server's port is no port")
	}
	s.address = net.JoinHostPort(s.host, port)
	query := u.Query()
	mode := query.Get("tls")
	query.Del("tls")
	if len(query) > 0 {
		return nil, errors.New("mail: the server's address knows no parameter but tls")
	}
	switch {
	case u.Scheme == "smtps" && mode == "":
		s.tls = fromTheStart
	case u.Scheme == "smtp" && (mode == "" || mode == "starttls"):
		s.tls = startTLS
	case u.Scheme == "smtp" && mode == "none":
		s.tls = inTheClear
	default:
		return nil, errors.New("mail: tls must be starttls or none, and belongs to smtp://")
	}
	if s.tls == inTheClear && s.user != "" && !egress.IsLoopback(s.host) {
		return nil, errors.New("mail: a password is not sent in the clear to another machine")
	}
	return s, nil
}

// Reach connects to the server of an address and sends nothing.
func Reach(ctx context.Context, address string) error {
	s, err := newServer(Options{URL: address}, nil)
	if err != nil {
		return err
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return c.Close()
}

// String returns the name of the sender for logs, without the password.
func (s *server) String() string { return fmt.Sprintf("SMTP server %s", s.address) }
