package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// tlsMode is how a connection to a mail server is protected.
type tlsMode int

const (
	startTLS tlsMode = iota
	fromTheStart
	inTheClear
)

// server sends by SMTP, one connection a mail.
type server struct {
	from           *mail.Address
	host, address  string
	user, password string
	tls            tlsMode
	cas            *x509.CertPool
	timeout        time.Duration
}

// send dials, sends and hangs up within the server's timeout. A mail that the server has taken is sent, whatever happens
// to the connection after that.
func (s *server) send(ctx context.Context, e *envelope) error {
	m, err := e.compose(s.from, gomail.EncodingQP)
	if err != nil {
		return err
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
	if e, ok := errors.AsType[*gomail.SendError](err); ok && e.Reason == gomail.ErrSMTPRcptTo && e.ErrorCode() >= 500 {
		return fmt.Errorf("send by %s: %w: %w", s.address, errRefused, err)
	}
	return fmt.Errorf("send by %s: %w", s.address, err)
}

func (s *server) client(dial gomail.DialContextFunc) (*gomail.Client, error) {
	policy := map[tlsMode]gomail.TLSPolicy{
		startTLS: gomail.TLSMandatory,
		// The dialler does TLS; go-mail then sees that the connection has it.
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
			kind = gomail.SMTPAuthPlainNoEnc // to this machine only, as Open has checked
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

// dialler opens the one connection of a mail. go-mail sets no deadline before its first command, heeds no context after
// it, and leaves connections open when a greeting fails: all of that is done here.
type dialler struct {
	*server
	conn net.Conn
	stop func() bool
}

// dialUntil returns what dials a connection that is over when ctx ends: the context that go-mail passes ends earlier.
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
		_ = d.conn.Close() // mostly closed by QUIT already
	}
}
