package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// postOffice is an SMTP server that records the mails it gets.
type postOffice struct {
	addr   string
	cas    *x509.CertPool
	rcpt   error // reply to RCPT TO
	data   error // reply to the end of DATA
	noAuth bool

	mu   sync.Mutex
	got  []string // mails
	who  []string // users who authenticated
	open bool     // a mail came over an unencrypted connection
}

func (p *postOffice) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secure := c.TLSConnectionState()
	return &clerk{office: p, secure: secure}, nil
}

type clerk struct {
	office *postOffice
	secure bool
	user   string
}

func (c *clerk) AuthMechanisms() []string {
	if c.office.noAuth {
		return nil
	}
	return []string{sasl.Plain}
}

func (c *clerk) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ada" || password != "hun@ter2" {
			return smtp.ErrAuthFailed
		}
		c.user = user
		return nil
	}), nil
}

func (c *clerk) Mail(string, *smtp.MailOptions) error {
	if c.user == "" && !c.office.noAuth {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (c *clerk) Rcpt(string, *smtp.RcptOptions) error { return c.office.rcpt }

func (c *clerk) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil || c.office.data != nil {
		return errors.Join(err, c.office.data)
	}
	c.office.mu.Lock()
	defer c.office.mu.Unlock()
	c.office.got = append(c.office.got, string(text))
	c.office.who = append(c.office.who, c.user)
	c.office.open = c.office.open || !c.secure
	return nil
}

// Refusing returns the address of a mail server that answers so to every recipient, until the test ends.
func Refusing(t *testing.T, reply error) string {
	t.Helper()
	p := &postOffice{noAuth: true, rcpt: reply}
	openPostOffice(t, p, false, false)
	return "smtp://" + p.addr + "?tls=none"
}

// received returns the mails that arrived.
func (p *postOffice) received() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got
}

func (*clerk) Reset()        {}
func (*clerk) Logout() error { return nil }

// openPostOffice serves on a loopback address until the test ends. secure uses TLS from the start; certified offers STARTTLS.
func openPostOffice(t *testing.T, p *postOffice, secure, certified bool) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	cert := web.TLS.Certificates[0]
	p.cas = x509.NewCertPool()
	p.cas.AddCert(web.Certificate())
	srv := smtp.NewServer(p)
	srv.Domain = "post.test"
	srv.AllowInsecureAuth = true
	srv.ErrorLog = quiet{}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.addr = ln.Addr().String()
	if certified {
		srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	if secure {
		ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{cert}})
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		require.NoError(t, srv.Close())
		<-done
	})
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func (p *postOffice) sender(t *testing.T, url string) *server {
	t.Helper()
	s, err := Open(Options{URL: strings.Replace(url, "HOST", p.addr, 1), From: "Atrium <no-reply@x.test>", CAs: p.cas})
	require.NoError(t, err)
	return s.(*server)
}

func letter() *envelope {
	return &envelope{ID: "msg_1", At: time.Now(), Message: Message{To: "ada@x.test", Subject: "Grüße", Text: "Grüße\n" + link + "\n"}}
}

func TestSMTP(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name              string
		url               string
		secure, certified bool
		clear             bool
	}{
		{"STARTTLS", "smtp://ada:hun%40ter2@HOST", false, true, false},
		{"TLS from the start", "smtps://ada:hun%40ter2@HOST", true, false, false},
		{"in the clear on this machine", "smtp://ada:hun%40ter2@HOST?tls=none", false, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := &postOffice{}
			openPostOffice(t, p, tc.secure, tc.certified)
			require.NoError(t, p.sender(t, tc.url).send(t.Context(), letter()))
			got := p.received()
			require.Len(t, got, 1)
			require.Equal(t, []string{"ada"}, p.who)
			require.Equal(t, tc.clear, p.open)
			require.Contains(t, got[0], "To: <ada@x.test>")
			require.Contains(t, got[0], "Message-ID: <msg_1@x.test>")
			require.Contains(t, strings.ReplaceAll(got[0], "=\r\n", ""), strings.ReplaceAll(link, "=", "=3D"), "quoted-printable, whole when decoded")
		})
	}
}

func TestSMTPWithoutPassword(t *testing.T) {
	t.Parallel()
	p := &postOffice{noAuth: true}
	openPostOffice(t, p, false, true)
	require.NoError(t, p.sender(t, "smtp://HOST").send(t.Context(), letter()))
	require.Len(t, p.received(), 1)
}

// A mail that cannot be sent securely is not sent. Only a rejection by the recipient's server is final.
func TestSMTPFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		office    *postOffice
		url       string
		certified bool
		forGood   bool
		says      string
	}{
		{"no STARTTLS there", &postOffice{}, "smtp://ada:hun%40ter2@HOST", false, false, "STARTTLS"},
		{"wrong password", &postOffice{}, "smtp://ada:wrong@HOST", true, false, "AUTH"},
		{"unknown recipient", &postOffice{rcpt: &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user as ada@x.test"}}, "smtp://ada:hun%40ter2@HOST", true, true, "550 5.1.1"},
		{"full mailbox", &postOffice{rcpt: &smtp.SMTPError{Code: 452, Message: "full"}}, "smtp://ada:hun%40ter2@HOST", true, false, "452"},
		{"refused content", &postOffice{data: &smtp.SMTPError{Code: 554, Message: "no"}}, "smtp://ada:hun%40ter2@HOST", true, false, "554"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := tc.office
			openPostOffice(t, p, false, tc.certified)
			err := p.sender(t, tc.url).send(t.Context(), letter())
			require.Error(t, err)
			require.Equal(t, tc.forGood, errors.Is(err, errRefused), "%v", err)
			require.Contains(t, err.Error(), tc.says)
			require.Empty(t, p.received())
			for _, secret := range []string{"hun", "wrong", "token=", "ada@x.test", "no such user"} {
				require.NotContains(t, err.Error(), secret)
			}
		})
	}
	t.Run("certificate of nobody known", func(t *testing.T) {
		t.Parallel()
		p := &postOffice{}
		openPostOffice(t, p, false, true)
		p.cas = x509.NewCertPool()
		require.Error(t, p.sender(t, "smtp://ada:hun%40ter2@HOST").send(t.Context(), letter()))
		require.Empty(t, p.received())
	})
}

// A server that accepts the connection and stays silent is given up after the timeout, or when the job is cancelled.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"smtp", "smtps"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer ln.Close() //nolint:errcheck // the test's own
			taken := make(chan net.Conn, 2)
			go func() {
				for {
					conn, err := ln.Accept()
					if err != nil {
						close(taken)
						return
					}
					taken <- conn
				}
			}()
			s, err := Open(Options{URL: scheme + "://" + ln.Addr().String(), From: "a@x.test"})
			require.NoError(t, err)
			slow := s.(*server)
			slow.timeout = 50 * time.Millisecond
			require.Error(t, slow.send(t.Context(), letter()))
			defer (<-taken).Close() //nolint:errcheck // the test's own

			patient := *slow
			patient.timeout = time.Hour
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- patient.send(ctx, letter()) }()
			defer (<-taken).Close() //nolint:errcheck // the test's own
			cancel()
			require.Error(t, <-done)
		})
	}
}
