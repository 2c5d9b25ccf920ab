package listener

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

// The answers. They name neither mailboxes nor causes.
var (
	errUnknown  = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such mailbox here"}
	errHarvest  = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 7, 0}, Message: "Too many unknown recipients"}
	errLater    = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "Try again later"}
	errTooMany  = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "Too many messages, try again later"}
	errRejected = &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "Message refused"}
	errShutdown = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "The server is shutting down, try again later"}
	errTooLarge = &smtp.SMTPError{Code: 552, EnhancedCode: smtp.EnhancedCode{5, 3, 4}, Message: "The message is too large"}
	errLine     = &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "A line is too long"}
)

// maxKnownTime bounds the look for a recipient.
const maxKnownTime = 10 * time.Second

// session is what one client says after its EHLO.
type session struct {
	server *Server
	conn   *smtp.Conn

	mu       sync.Mutex // BDAT stores in a goroutine of its own, which may see the end of a mail after the next has begun
	envelope Envelope
	unknown  int
	ate      bool // a byte of the client was lost by looking whether it is there
}

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

// Mail begins a mail.
func (s *session) Mail(from string, o *smtp.MailOptions) error {
	client := under(s.conn.Conn()).client
	if !s.server.allow(client) {
		return errTooMany
	}
	_, secure := s.conn.TLSConnectionState()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.envelope = Envelope{Client: client, Helo: s.conn.Hostname(), Sender: from, TLS: secure, Size: o.Size, At: time.Now()}
	return nil
}

// Rcpt adds a recipient that is one of ours, unless the mail is announced as too large for everybody.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.unknown >= s.server.limits.unknown {
		return errHarvest
	}
	ctx, cancel := context.WithTimeout(s.server.stop, maxKnownTime)
	defer cancel()
	known, err := s.server.Known(ctx, to)
	if err != nil {
		s.server.Log.Error("look for the recipient of a mail", "error", err)
		return errLater
	}
	if !known {
		s.unknown++
		return errUnknown
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.envelope.Size > s.server.limits.size {
		e := s.envelope
		e.Recipients = []string{to}
		s.tooLarge(ctx, e, e.Size)
		return errTooLarge
	}
	s.envelope.Recipients = append(s.envelope.Recipients, to)
	return nil
}

// tooLarge has a mail noted that is refused for its size. The client hears of the refusal whether that is possible or not.
func (s *session) tooLarge(ctx context.Context, e Envelope, size int64) {
	if s.server.TooLarge == nil {
		return
	}
	if err := s.server.TooLarge(ctx, e, size); err != nil {
		s.server.Log.Error("note a mail that is too large", "error", err)
	}
}

// Data stores a mail. The client hears 250 only of one that was read to its end and stored.
func (s *session) Data(r io.Reader) error {
	c := under(s.conn.Conn())
	if !s.server.begin(c) {
		return errShutdown
	}
	defer s.server.finish(c)
	s.mu.Lock()
	e := s.envelope
	s.mu.Unlock()
	mail := &source{r: r, left: s.server.limits.size}
	if _, chunks := r.(*io.PipeReader); chunks {
		mail.gone = s.gone
	}
	ctx, cancel := context.WithTimeout(s.server.stop, s.server.limits.command)
	defer cancel()
	err := s.server.Store(ctx, e, mail)
	switch {
	case errors.Is(mail.err, errTooLarge):
		s.tooLarge(ctx, e, s.server.limits.size+1)
		return errTooLarge
	case errors.Is(mail.err, smtp.ErrTooLongLine):
		return errLine
	case errors.Is(err, ErrRefused):
		return errRejected
	case err != nil && mail.err != nil && !errors.Is(mail.err, io.EOF):
		return errLater // the client has gone
	case err != nil:
		s.server.Log.Error("store a mail", "error", err)
		return errLater
	case !errors.Is(mail.err, io.EOF):
		s.server.Log.Error("a mail was not read to its end")
		return errLater
	}
	return nil
}

// gone reports whether the client has closed the connection, at the end of a mail in chunks. go-smtp takes the end of the connection for
// the end of the chunk, so a mail that was cut off looks whole. Nothing else reads at this time. A client that goes on at once loses a
// byte, and therefore the connection, after its answer.
func (s *session) gone() bool {
	c := s.conn.Conn()
	if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return true
	}
	n, err := c.Read(make([]byte, 1))
	if n > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ate = true
		return false
	}
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// Reset ends a mail.
func (s *session) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.envelope = Envelope{}
	if s.ate {
		_ = s.conn.Conn().Close()
	}
}

// Logout ends the session.
func (*session) Logout() error { return nil }

// source is the mail as Store reads it. It remembers how the mail ended, with errTooLarge for one of more bytes than were left.
type source struct {
	r    io.Reader
	left int64
	err  error
	gone func() bool
}

func (m *source) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.r.Read(p)
	if errors.Is(err, io.EOF) && m.gone != nil && m.gone() {
		err = io.ErrUnexpectedEOF
	}
	if m.left -= int64(n); m.left < 0 {
		err = errTooLarge
	}
	if m.err = err; errors.Is(err, net.ErrClosed) {
		m.err = io.ErrUnexpectedEOF
	}
	return n, m.err
}
