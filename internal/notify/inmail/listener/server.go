package listener

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"atrium/internal/notify/inmail"
)

// limits are the bounds of a server. Tests have smaller ones.
type limits struct {
	conns, perAddress, perMinute  int
	recipients, unknown           int
	size                          int64
	command, answer, life, ending time.Duration
}

var usual = limits{
	conns: 100, perAddress: 10, perMinute: 120, recipients: 100, unknown: 10, size: inmail.MaxSize,
	command: 5 * time.Minute, answer: time.Minute, life: 30 * time.Minute, ending: 20 * time.Second,
}

// Envelope is what the protocol says of a mail.
type Envelope struct {
	Client     netip.Addr
	Helo       string // as the client calls itself: not to be believed
	Sender     string // MAIL FROM; empty for the null sender
	Recipients []string
	TLS        bool
	Size       int64     // as the client announces it; 0 where it does not
	At         time.Time // when the mail began to come
}

// ErrRefused is for Store to return, or to wrap, for a mail that the client shall not send again.
var ErrRefused = errors.New("listener: refused for good")

// Options are what a server needs.
type Options struct {
	Domain string      // the name in the greeting
	TLS    *tls.Config // for STARTTLS; nil for a server that does not offer it
	// Known reports whether a recipient is one of ours. Of an error the client hears that it shall try again later.
	Known func(ctx context.Context, recipient string) (bool, error)
	// Store makes a mail durable before it returns nil. The reader gives the mail as it came, without the protocol's dots; it fails if
	// the client goes away or the mail is too large, and Store then returns an error and keeps nothing. Of an error, other than
	// ErrRefused, the client hears that it shall try again later. Several calls run at once.
	Store func(ctx context.Context, e Envelope, mail io.Reader) error
	// TooLarge notes that a mail of a size in bytes, or more, was refused for it. The envelope has known recipients alone. Nil: nobody notes it.
	TooLarge func(ctx context.Context, e Envelope, size int64) error
	Log      *slog.Logger
}

// Server takes mails.
type Server struct {
	Options
	limits limits

	stop  context.Context // ends what Store does when the server can wait no longer
	mu    sync.Mutex
	conns map[*conn]bool
	mails map[netip.Prefix]int // since minute
	since time.Time
	ended bool // no mail begins any more
	work  sync.WaitGroup
}

// New returns a server.
func New(o Options) *Server {
	return &Server{Options: o, limits: usual, conns: map[*conn]bool{}, mails: map[netip.Prefix]int{}}
}

// Serve takes mails from the listener until ctx ends. Then it accepts no more connections, closes those that send no mail, and waits up to
// 20 s for the mails that are under way. It closes the listener.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	stop, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	s.stop = stop
	inner := smtp.NewServer(smtp.BackendFunc(s.newSession))
	inner.Domain, inner.TLSConfig = s.Domain, s.TLS
	inner.MaxRecipients = s.limits.recipients // the size is limited by session, which hears at go-smtp's limit neither for whom a mail is nor that it came
	inner.MaxLineLength = 64 << 10            // many programs write longer lines than they may
	inner.ReadTimeout, inner.WriteTimeout = s.limits.command, s.limits.answer
	inner.EnableSMTPUTF8 = true
	inner.ErrorLog = errorLog{s.Log}
	served := make(chan struct{})
	var err error
	go func() {
		defer close(served)
		err = inner.Serve(&limited{Listener: ln, server: s})
	}()
	select {
	case <-served:
	case <-ctx.Done():
	}
	s.end()
	shut := make(chan struct{})
	go func() {
		defer close(shut)
		_ = inner.Shutdown(context.Background()) // ends with the connections
		s.work.Wait()
	}()
	_ = ln.Close() // before go-smtp knows it, if ctx ended at once
	select {
	case <-shut:
	case <-time.After(s.limits.ending):
		cancel()
		s.closeAll()
		<-shut
	}
	if <-served; err != nil && ctx.Err() == nil {
		return fmt.Errorf("take mails: %w", err)
	}
	return nil
}

// end lets no mail begin, and ends the connections that are sending none.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c, sending := range s.conns {
		if !sending {
			_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // the client hears 421
		}
	}
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Conn.Close()
	}
}

// begin notes that a mail comes over a connection. It returns false if the server ends.
func (s *Server) begin(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.work.Add(1)
	if _, open := s.conns[c]; open {
		s.conns[c] = true
	}
	return true
}

func (s *Server) finish(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[c]; open {
		s.conns[c] = false
	}
	s.work.Done()
}

// maxCounted bounds the addresses that are counted in a minute; beyond them the number of connections alone limits.
const maxCounted = 10_000

// allow counts a mail of an address.
func (s *Server) allow(client netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.since) > time.Minute {
		s.since = now
		clear(s.mails)
	}
	network := networkOf(client)
	if _, counted := s.mails[network]; !counted && len(s.mails) >= maxCounted {
		return true
	}
	s.mails[network]++
	return s.mails[network] <= s.limits.perMinute
}

// networkOf returns what counts as one address: in IPv6 it is a network of 64 bits.
func networkOf(ip netip.Addr) netip.Prefix {
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	network, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// errorLog takes what go-smtp logs: failures of connections, which are the clients' affair, and panics.
type errorLog struct{ *slog.Logger }

func (l errorLog) Printf(format string, args ...any) {
	if strings.HasPrefix(format, "panic") {
		l.Error("smtp listener", "error", fmt.Sprintf(format, args...))
		return
	}
	l.Debug("smtp listener", "error", fmt.Sprintf(format, args...))
}

func (l errorLog) Println(args ...any) { l.Debug("smtp listener", "error", fmt.Sprintln(args...)) }
