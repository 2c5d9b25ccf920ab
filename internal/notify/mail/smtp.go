package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// tlsMode says how a connection to a mail server is encrypted.
type tlsMode int

const (
	startTLS tlsMode = iota
	fromTheStart
	inTheClear
)

// server sends mails by SMTP, with one connection per mail.
type server struct {
	from           *mail.Address
	host, address  string
	user, password string
	tls            tlsMode
	cas            *x509.CertPool
	dkim           *DKIM
	returns        bool // reports of mails that do not arrive go to where answers go
	timeout        time.Duration
}

// send connects, sends the mail and disconnects, within the timeout. Once the server has accepted the mail it counts as sent,
// whatever happens to the connection afterwards.
func (s *server) send(ctx context.Context, e *envelope) error {
	m, err := e.compose(s.from, gomail.EncodingQP)
	if err != nil {
		return err
	}
	if s.dkim != nil {
		if err := s.dkim.sign(m); err != nil {
			return err
		}
	}
	if s.returns && e.ReplyTo != "" {
		if err := m.EnvelopeFrom(e.ReplyTo); err != nil {
			return errors.New("send the mail: the address for reports is refused")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	d := &dialler{server: s}
	defer d.hangUp()
	client, err := s.client(d.dialUntil(ctx))
	if err != nil {
		return err
	}
	err = client.DialAndSendWithContext(ctx, m)
	if err == nil || m.IsDelivered() {
		return nil
	}
	return fmt.Errorf("send by %s: %w", s.address, withoutRecipient(err))
}

// withoutRecipient returns an error of go-mail without the recipient's address, which both go-mail and mail servers repeat: the error
// is kept with the job, where erasing a person would not find the address.
func withoutRecipient(err error) error {
	e, ok := errors.AsType[*gomail.SendError](err)
	if !ok {
		return err // from before the server has heard of a recipient
	}
	said := fmt.Errorf("%s: answered with %d %s", e.Reason, e.ErrorCode(), e.EnhancedStatusCode())
	switch {
	case e.Reason != gomail.ErrSMTPRcptTo || e.ErrorCode() < 500:
		return said
	case strings.HasPrefix(e.EnhancedStatusCode(), "5.7."): // a rule of the server, such as against relaying, says nothing of the address
		return fmt.Errorf("%w: %w", errRefused, said)
	}
	return fmt.Errorf("%w: %w: %w", errRefused, errNobody, said)
}

func (s *server) client(dial gomail.DialContextFunc) (*gomail.Client, error) {
	policy := map[tlsMode]gomail.TLSPolicy{
		startTLS: gomail.TLSMandatory,
		// The dialler does the TLS handshake; go-mail then detects that the connection is encrypted.
		fromTheStart: gomail.TLSOpportunistic,
		inTheClear:   gomail.NoTLS,
	}[s.tls]
	options := []gomail.Option{
		gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(s.tlsConfig()), gomail.WithTimeout(s.timeout),
		gomail.WithDialContextFunc(dial), gomail.WithoutNoop(),
	}
	if s.user != "" {
		kind := gomail.SMTPAuthAutoDiscover
		if s.tls == inTheClear {
			kind = gomail.SMTPAuthPlainNoEnc // only to this machine, as Open has checked
		}
		options = append(options, gomail.WithSMTPAuth(kind), gomail.WithUsername(s.user), gomail.WithPassword(s.password))
	}
	client, err := gomail.NewClient(s.host, options...)
	if err != nil {
		return nil, fmt.Errorf("prepare to send by %s: %w", s.address, err)
	}
	return client, nil
}

func (s *server) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.host, RootCAs: s.cas, MinVersion: tls.VersionTLS12}
}

// dialler opens the connection for one mail. It fills gaps of go-mail, which sets no deadline before its first command, ignores
// the context after it, and leaves the connection open when the greeting fails.
type dialler struct {
	*server
	conn net.Conn
	stop func() bool
}

// dialUntil returns a dial function whose connection is closed when ctx ends. It ignores the context that go-mail passes,
// because that one ends earlier.
func (d *dialler) dialUntil(ctx context.Context) gomail.DialContextFunc {
	return func(_ context.Context, network, _ string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, d.address)
		if err != nil {
			return nil, err
		}
		d.conn, d.stop = conn, context.AfterFunc(ctx, func() { _ = conn.Close() })
		if d.tls != fromTheStart {
			return conn, nil
		}
		secure := tls.Client(conn, d.tlsConfig())
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		return secure, nil
	}
}

func (d *dialler) hangUp() {
	if d.conn != nil {
		d.stop()
		_ = d.conn.Close() // usually closed by QUIT already
	}
}
