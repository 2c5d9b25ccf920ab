package listener

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post is a server with what it has stored.
type post struct {
	addr  string
	cas   *x509.CertPool
	stop  context.CancelFunc
	ended chan error

	mu     sync.Mutex
	stored []string
	envs   []Envelope
	large  []string      // of what was too large: its recipients and its size
	calls  chan struct{} // gets one when Store ends, and one when it holds
	refuse error
	hold   chan struct{} // Store waits for it before it answers
}

func (p *post) known(_ context.Context, to string) (bool, error) {
	if to == "down@desk.test" {
		return false, errors.New("the database is away")
	}
	return strings.HasSuffix(to, "@desk.test") && !strings.HasPrefix(to, "nobody"), nil
}

func (p *post) store(ctx context.Context, e Envelope, mail io.Reader) error {
	text, err := io.ReadAll(mail)
	if p.hold != nil && err == nil {
		p.calls <- struct{}{}
		select {
		case <-p.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.calls <- struct{}{} }()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if p.refuse != nil {
		return p.refuse
	}
	p.stored, p.envs = append(p.stored, string(text)), append(p.envs, e)
	return nil
}

func (p *post) tooLarge(_ context.Context, e Envelope, size int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.large = append(p.large, fmt.Sprintf("%s%v%d", e.Sender, e.Recipients, size))
	return errors.New("the database is away")
}

func (p *post) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stored
}

// open serves on a loopback address until the test ends.
func open(t *testing.T, p *post, change func(*limits)) {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	p.cas = x509.NewCertPool()
	p.cas.AddCert(web.Certificate())
	p.calls = make(chan struct{}, 100)
	s := New(Options{
		Domain: "desk.test", TLS: &tls.Config{Certificates: web.TLS.Certificates}, Known: p.known, Store: p.store, TooLarge: p.tooLarge, Log: slog.New(slog.DiscardHandler),
	})
	if change != nil {
		change(&s.limits)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.addr = ln.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	p.stop, p.ended = cancel, make(chan error, 1)
	go func() { p.ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if p.ended != nil {
			require.NoError(t, <-p.ended)
		}
	})
}

// client speaks by hand.
type client struct {
	net.Conn
	r *bufio.Reader
	t *testing.T
}

func dial(t *testing.T, p *post) *client {
	t.Helper()
	c, err := net.Dial("tcp", p.addr)
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	t.Cleanup(func() { _ = c.Close() })
	return &client{c, bufio.NewReader(c), t}
}

// says sends lines.
func (c *client) says(lines ...string) *client {
	c.t.Helper()
	_, err := c.Write([]byte(strings.Join(lines, "\r\n") + "\r\n"))
	require.NoError(c.t, err)
	return c
}

// hears reads answers, each of which begins with a code.
func (c *client) hears(codes ...string) string {
	c.t.Helper()
	line := ""
	for _, code := range codes {
		for {
			var err error
			line, err = c.r.ReadString('\n')
			require.NoError(c.t, err, "instead of %s", code)
			if line[3] != '-' {
				break
			}
		}
		require.Equal(c.t, code, line[:3], line)
	}
	return line
}

func (c *client) secure(p *post) *client {
	c.t.Helper()
	c.says("STARTTLS").hears("220")
	conn := tls.Client(c.Conn, &tls.Config{RootCAs: p.cas, ServerName: "example.com"})
	require.NoError(c.t, conn.HandshakeContext(c.t.Context()))
	s := &client{conn, bufio.NewReader(conn), c.t}
	s.says("EHLO mx.acme.test").hears("250")
	return s
}

func greeted(t *testing.T, p *post) *client {
	t.Helper()
	c := dial(t, p)
	c.hears("220")
	c.says("EHLO mx.acme.test").hears("250")
	return c
}

const mail = "Subject: Laptop\r\n\r\n.It starts with a dot\r\n..two\r\nend\r\n"

// A mail comes as it was written, with its envelope, over TLS and without.
func TestTaken(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	for _, secure := range []bool{false, true} {
		var c *smtp.Client
		var err error
		if secure {
			c, err = smtp.DialStartTLS(p.addr, &tls.Config{RootCAs: p.cas, ServerName: "example.com"})
		} else {
			c, err = smtp.Dial(p.addr)
		}
		require.NoError(t, err)
		require.NoError(t, c.Hello("mx.acme.test"))
		require.NoError(t, c.SendMail("ada@acme.test", []string{"help@desk.test", "it@desk.test"}, strings.NewReader(mail)))
		require.NoError(t, c.Quit())
	}
	require.Equal(t, []string{mail, mail}, p.all(), "dots were doubled on the way and came out single")
	for i, e := range p.envs {
		require.Equal(t, "127.0.0.1", e.Client.String())
		require.Equal(t, "mx.acme.test", e.Helo)
		require.Equal(t, "ada@acme.test", e.Sender)
		require.Equal(t, []string{"help@desk.test", "it@desk.test"}, e.Recipients)
		require.Equal(t, i == 1, e.TLS)
		require.WithinDuration(t, time.Now(), e.At, time.Minute)
	}
}

// Nobody but the known recipients gets a mail: nothing is relayed, and whether a mailbox exists cannot be tried out for long.
func TestRecipients(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, func(l *limits) { l.unknown, l.recipients = 3, 2 })
	c := greeted(t, p)
	c.says("MAIL FROM:<>").hears("250")
	c.says("RCPT TO:<nobody@desk.test>").hears("550")
	c.says("RCPT TO:<eve@other.test>").hears("550")
	c.says("RCPT TO:<down@desk.test>").hears("451")
	c.says("DATA").hears("502")
	c.says("RCPT TO:<help@desk.test>").hears("250")
	c.says("RCPT TO:<help%other.test@desk.test>").hears("250") // a name like any other
	c.says("RCPT TO:<it@desk.test>").hears("452")
	c.says("DATA").hears("354")
	c.says("hello", ".").hears("250")
	require.Equal(t, []string{"hello\r\n"}, p.all())
	require.Empty(t, p.envs[0].Sender)
	c.says("MAIL FROM:<ada@acme.test>").hears("250")
	c.says("RCPT TO:<nobody@desk.test>").hears("550")
	require.Contains(t, c.says("RCPT TO:<help@desk.test>").hears("421"), "unknown", "of a client that has asked for many")
	c.says("AUTH PLAIN AGEAYg==").hears("523")
}

// What Store says is what the client hears. Its errors tell the client nothing of the inside.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for code, refuse := range map[string]error{"451": errors.New("disk full at /var"), "554": fmt.Errorf("spam: %w", ErrRefused)} {
		p := &post{refuse: refuse}
		open(t, p, nil)
		c := greeted(t, p)
		c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
		answer := c.says("hello", ".").hears(code)
		require.NotContains(t, answer, "disk")
		require.NotContains(t, answer, "spam")
		require.Empty(t, p.all())
	}
}

// Commands in one packet are answered one by one, and two mails stay two.
func TestPipelining(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	c := greeted(t, p)
	one := []string{"MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA"}
	c.says(append(append(one, "first", ".", one[0], one[1], one[2], "second", "."), "QUIT")...)
	c.hears("250", "250", "354", "250", "250", "250", "354", "250", "221")
	require.Equal(t, []string{"first\r\n", "second\r\n"}, p.all())
}

// What stands behind STARTTLS in the clear is not taken for something said under TLS.
func TestNothingIsInjected(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	c := greeted(t, p)
	c.says("STARTTLS", "MAIL FROM:<eve@evil.test>").hears("220")
	conn := tls.Client(c.Conn, &tls.Config{RootCAs: p.cas, ServerName: "example.com"})
	require.NoError(t, conn.HandshakeContext(t.Context()))
	s := &client{conn, bufio.NewReader(conn), t}
	s.says("RCPT TO:<help@desk.test>").hears("502")

	// Only \r\n.\r\n ends a mail: other ends would smuggle a second one in (a line end of one program is none of another).
	c = greeted(t, p)
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
	smuggled := "a\n.\nMAIL FROM:<eve@evil.test>\r\n.\nb\n.\r\nc\r.\rd"
	_, err := c.Write([]byte(smuggled + "\r\n.\r\n"))
	require.NoError(t, err)
	c.hears("250")
	require.Len(t, p.all(), 1)
	require.Contains(t, p.all()[0], "MAIL FROM:<eve@evil.test>")
}

// A mail that is too large is refused as soon as it is known for whom it is: by its announcement, or when it is. That is noted for each of
// its recipients, and the connection goes on.
func TestOversize(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, func(l *limits) { l.size = 1000 })
	c := greeted(t, p)
	c.says("MAIL FROM:<ada@acme.test> SIZE=1001", "RCPT TO:<nobody@desk.test>", "RCPT TO:<help@desk.test>", "RCPT TO:<it@desk.test>", "DATA").hears("250", "550", "552", "552", "502")
	c.says("MAIL FROM:<eve@acme.test> SIZE=10").hears("250")
	c.says("RCPT TO:<help@desk.test>", "RCPT TO:<it@desk.test>", "DATA").hears("250", "250", "354")
	c.says(strings.Repeat("x", 900), strings.Repeat("y", 900), ".").hears("552")
	c.says("MAIL FROM:<bob@acme.test>", "RCPT TO:<help@desk.test>", "BDAT 2000 LAST", strings.Repeat("x", 1998)).hears("250", "250", "552")
	c.says("MAIL FROM:<bob@acme.test>", "RCPT TO:<it@desk.test>", "BDAT 702", strings.Repeat("x", 700)).hears("250", "250", "250")
	c.says("BDAT 702 LAST", strings.Repeat("x", 700)).hears("552")
	require.Empty(t, p.all())
	require.Equal(t, []string{
		"ada@acme.test[help@desk.test]1001", "ada@acme.test[it@desk.test]1001", "eve@acme.test[help@desk.test it@desk.test]1001",
		"bob@acme.test[help@desk.test]1001", "bob@acme.test[it@desk.test]1001",
	}, p.large)
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
	whole := strings.Repeat("x", 998)
	c.says(whole, ".").hears("250")
	require.Equal(t, []string{whole + "\r\n"}, p.all(), "as large as it may be")
}

// Chunks make a mail as well as lines do, dots and all.
func TestChunks(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	for _, secure := range []bool{false, true} {
		c := greeted(t, p)
		if secure {
			c = c.secure(p)
		}
		c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "BDAT 7", "hello").hears("250", "250", "250")
		c.says("BDAT 5 LAST", ".\r\n").hears("250")
		c.says("QUIT").hears("221")
	}
	require.Equal(t, []string{"hello\r\n.\r\n\r\n", "hello\r\n.\r\n\r\n"}, p.all())

	c := greeted(t, p) // a client that does not wait has its answer, and connects anew for the next mail
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>").hears("250", "250")
	_, err := c.Write([]byte("BDAT 5 LAST\r\nthird" + strings.Repeat("NOOP\r\n", 2000)))
	require.NoError(t, err)
	c.hears("250")
	require.Equal(t, "third", p.all()[2])
}

// A client that goes away in the middle leaves nothing, however it sends and ends.
func TestGone(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	for name, c := range map[string]struct {
		secure bool
		begin  string
	}{
		"lines":                      {false, "DATA\r\nhalf of"},
		"lines, before the last dot": {false, "DATA\r\nall of it\r\n"},
		"lines over TLS":             {true, "DATA\r\nhalf of"},
		"a chunk":                    {false, "BDAT 100 LAST\r\nhalf of"},
		"a chunk over TLS":           {true, "BDAT 100 LAST\r\nhalf of"},
		"between chunks":             {true, "BDAT 7\r\nhalf of"},
		"in an empty chunk":          {false, "BDAT 0\r\n"},
	} {
		conn := greeted(t, p)
		if c.secure {
			conn = conn.secure(p)
		}
		conn.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>").hears("250", "250")
		_, err := conn.Write([]byte(c.begin))
		require.NoError(t, err)
		require.NoError(t, conn.Close()) // over TLS it says so first
		if c.begin != "BDAT 0\r\n" {
			<-p.calls
		}
		require.Empty(t, p.all(), name)
	}
	p.stop()
	require.NoError(t, <-p.ended)
	p.ended = nil
	require.Empty(t, p.all())
}

// A client that begins a mail in chunks and then another mail has stored the second alone.
func TestBegunAnew(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, nil)
	c := greeted(t, p)
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "BDAT 5", "abc", "RSET").hears("250", "250", "250", "250")
	c.says("MAIL FROM:<bob@acme.test>", "RCPT TO:<it@desk.test>", "DATA").hears("250", "250", "354")
	c.says("second", ".").hears("250")
	require.Equal(t, []string{"second\r\n"}, p.all())
	require.Equal(t, "bob@acme.test", p.envs[0].Sender)
	require.Equal(t, []string{"it@desk.test"}, p.envs[0].Recipients)
}

// Slow clients are ended by the time of a command, of a mail and of the connection.
func TestSlow(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, func(l *limits) { l.command = 100 * time.Millisecond })
	c := greeted(t, p)
	c.hears("421")

	c = greeted(t, p)
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
	for { // a byte at a time, each of them in time
		if _, err := c.Write([]byte("x")); err != nil {
			break
		}
		select {
		case <-p.calls:
		case <-time.After(10 * time.Millisecond):
			continue
		}
		break
	}
	require.Empty(t, p.all())

	q := &post{}
	open(t, q, func(l *limits) { l.life = 200 * time.Millisecond })
	c = greeted(t, q)
	for {
		if _, err := c.Write([]byte("NOOP\r\n")); err != nil {
			break
		}
		if line, err := c.r.ReadString('\n'); err != nil || strings.HasPrefix(line, "421") {
			break
		}
	}
}

// Connections and mails are limited by address and altogether. A place that is left is free again.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := &post{}
	open(t, p, func(l *limits) { l.conns, l.perMinute = 3, 2 })
	var conns []*client
	for range 3 {
		conns = append(conns, greeted(t, p))
	}
	dial(t, p).hears("421")
	conns[0].says("QUIT").hears("221")
	require.Eventually(t, func() bool {
		c := dial(t, p)
		line, err := c.r.ReadString('\n')
		_ = c.Close()
		return err == nil && strings.HasPrefix(line, "220")
	}, 10*time.Second, time.Millisecond)
	for _, code := range []string{"250", "250", "451"} {
		conns[1].says("MAIL FROM:<ada@acme.test>").hears(code)
		conns[1].says("RSET").hears("250")
	}

	q := &post{}
	open(t, q, func(l *limits) { l.perAddress = 1 })
	greeted(t, q)
	dial(t, q).hears("421")
}

// At the end a mail under way is stored and answered, others do not begin, and nothing waits for clients that say nothing.
func TestShutdown(t *testing.T) {
	t.Parallel()
	p := &post{hold: make(chan struct{})}
	open(t, p, nil)
	idle := greeted(t, p)
	busy := greeted(t, p)
	busy.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
	busy.says("hello", ".")
	<-p.calls
	p.stop()
	idle.hears("421")
	close(p.hold)
	busy.hears("250", "421")
	require.NoError(t, <-p.ended)
	p.ended = nil
	require.Equal(t, []string{"hello\r\n"}, p.all())
	_, err := net.Dial("tcp", p.addr)
	require.Error(t, err)
}

// A store that does not come to an end is ended with the server, and the client hears no 250.
func TestShutdownEndsTheStore(t *testing.T) {
	t.Parallel()
	p := &post{hold: make(chan struct{})}
	open(t, p, func(l *limits) { l.ending = 50 * time.Millisecond })
	c := greeted(t, p)
	c.says("MAIL FROM:<ada@acme.test>", "RCPT TO:<help@desk.test>", "DATA").hears("250", "250", "354")
	c.says("hello", ".")
	<-p.calls
	p.stop()
	require.NoError(t, <-p.ended)
	p.ended = nil
	require.Empty(t, p.all())
	line, _ := c.r.ReadString('\n')
	require.False(t, strings.HasPrefix(line, "250"), line)
}

// BenchmarkMails takes mails of 10 KB over one connection.
func BenchmarkMails(b *testing.B) {
	s := New(Options{
		Domain: "desk.test", Known: func(context.Context, string) (bool, error) { return true, nil }, Log: slog.New(slog.DiscardHandler),
		Store: func(_ context.Context, _ Envelope, mail io.Reader) error {
			_, err := io.Copy(io.Discard, mail)
			return err
		},
	})
	s.limits.perMinute, s.limits.life = 1<<30, time.Hour
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	defer func() { cancel(); <-ended }()
	c, err := smtp.Dial(ln.Addr().String())
	require.NoError(b, err)
	defer c.Close() //nolint:errcheck // the test's own
	text := strings.Repeat("A line of a mail as people write them.\r\n", 250)
	for b.Loop() {
		require.NoError(b, c.SendMail("a@b.test", []string{"c@d.test"}, strings.NewReader(text)))
	}
}
