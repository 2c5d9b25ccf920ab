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
)

// sendTimeout bounds the sending of one mail, from the dialling to the last answer.
const sendTimeout = 45 * time.Second

// errRefused is found in the error of a mail that the recipient's server will never take.
var errRefused = errors.New("refused for good")

// Sender sends mails: by SMTP, or into a folder.
type Sender interface {
	send(ctx context.Context, e *envelope) error
}

// Options say where mails go.
type Options struct {
	// URL is smtp://user:password@host:port (STARTTLS is required, port 587 by default) or smtps://… (TLS from the start,
	// port 465). ?tls=none sends in the clear: for a server on this machine. Empty for files in Dir.
	URL string
	// From is the sender as people see it, "Name <address>". By default an address that cannot be answered, for files only.
	From string
	// Dir is the folder of the files. It is made when the first mail is written.
	Dir string
	// CAs are trusted for the server's certificate; nil for the system's.
	CAs *x509.CertPool
}

// Open returns the sender that o describes; nothing is dialled yet. No error of it repeats the URL's password.
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
	s := &server{from: from, host: u.Hostname(), user: u.User.Username(), cas: o.CAs, timeout: sendTimeout}
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
	if s.tls == inTheClear && s.user != "" && !loopback(s.host) {
		return nil, errors.New("mail: a password is not sent in the clear to another machine")
	}
	return s, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// String names the sender for logs, without its password.
func (s *server) String() string { return fmt.Sprintf("SMTP server %s", s.address) }
