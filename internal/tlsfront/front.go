package tlsfront

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"
)

// recordHandshake is the first byte of every TLS connection (RFC 8446, 5.1); no HTTP method begins with it.
const recordHandshake = 0x16

// Front is one listening port. Make it with Listen, run it with Serve, end it with Shutdown.
type Front struct {
	cfg       *tls.Config
	log       *slog.Logger
	drain     time.Duration // for running requests, when Serve's context ends
	firstByte time.Duration // for a new connection to say what it speaks
	linger    time.Duration // for a plain client to take its answer
	settle    time.Duration // for a new TLS connection to bring its first request, when stopping

	ln       net.Listener
	secure   *handoff      // where net/http accepts from
	slots    chan struct{} // one token per open connection
	lobby    lobby
	settling settling
	greeters sync.WaitGroup // the accept loop and the goroutines it starts

	mu       sync.Mutex
	srv      *http.Server  // set by Serve
	stopping chan struct{} // closed when Shutdown begins
	stopped  chan struct{} // closed when a Shutdown is through
	aborted  context.Context
	abort    context.CancelFunc // cuts off plain answers
}

// Listen opens a TCP port ("127.0.0.1:8443"; port 0 picks a free one) for TLS with cfg, which must hold a
// certificate or a way to get one. cfg is copied; the copy speaks TLS 1.2 at least and offers h2 and HTTP/1.1
// besides cfg's own protocols. Connections wait in the kernel until Serve; without Serve, Shutdown frees the port.
func Listen(addr string, cfg *tls.Config, opts ...Option) (*Front, error) {
	if cfg == nil || len(cfg.Certificates) == 0 && cfg.GetCertificate == nil && cfg.GetConfigForClient == nil {
		return nil, errors.New("tlsfront: the TLS configuration has no certificate")
	}
	f := &Front{
		cfg:       cfg.Clone(),
		log:       slog.Default(),
		drain:     defaultDrain,
		firstByte: firstByteTimeout,
		linger:    lingerTime,
		settle:    settleTime,
		slots:     make(chan struct{}, defaultMaxConns),
		lobby:     lobby{limit: defaultMaxWaiting},
		stopping:  make(chan struct{}),
		stopped:   make(chan struct{}),
	}
	for _, opt := range opts {
		opt(f)
	}
	f.cfg.MinVersion = max(f.cfg.MinVersion, tls.VersionTLS12)
	f.cfg.NextProtos = withHTTP(f.cfg.NextProtos)

	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("tlsfront: %w", err)
	}
	f.ln, f.secure = ln, newHandoff(ln.Addr())
	f.aborted, f.abort = context.WithCancel(context.Background())
	return f, nil
}

// withHTTP puts h2 and http/1.1 first, unless protos names them already.
func withHTTP(protos []string) []string {
	out := slices.Clone(protos)
	for _, p := range []string{"http/1.1", "h2"} {
		if !slices.Contains(out, p) {
			out = slices.Insert(out, 0, p)
		}
	}
	return out
}

// Addr returns the address listened on, with the port that was picked.
func (f *Front) Addr() net.Addr { return f.ln.Addr() }

// Serve answers connections with srv until Shutdown is called or ctx ends, and returns when all is closed: nil
// after Shutdown (also when it came before Serve), otherwise what went wrong. When ctx ends, running requests
// get the time of WithDrain; context.DeadlineExceeded says that some were cut off. Serve sets srv.TLSConfig; all
// else about srv is the caller's (its ConnState hook is called as before), above all ReadHeaderTimeout, which
// bounds the TLS handshake too. A Front serves once.
func (f *Front) Serve(ctx context.Context, srv *http.Server) error {
	failed := make(chan error, 2)
	if running, err := f.begin(srv, failed); !running {
		return err
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := srv.ServeTLS(f.secure, "", ""); !errors.Is(err, http.ErrServerClosed) {
			failed <- fmt.Errorf("tlsfront: serve: %w", err)
		}
	})

	var err error
	select {
	case <-f.stopping:
	case <-ctx.Done():
		err = f.drainAndStop(ctx)
	case cause := <-failed:
		err = errors.Join(cause, f.drainAndStop(ctx))
	}
	serving.Wait()
	<-f.stopped
	return err
}

// begin starts accepting, unless Shutdown came first.
func (f *Front) begin(srv *http.Server, failed chan<- error) (running bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.srv != nil {
		return false, errors.New("tlsfront: Serve was called twice")
	}
	if f.isStopping() {
		return false, nil
	}
	f.srv = srv
	srv.TLSConfig = f.cfg.Clone() // net/http adds to it
	told := srv.ConnState
	srv.ConnState = func(c net.Conn, state http.ConnState) {
		f.settling.settled(c, state)
		if told != nil {
			told(c, state)
		}
	}
	f.greeters.Go(func() {
		if err := f.accept(); err != nil {
			failed <- err
		}
	})
	return true, nil
}

func (f *Front) drainAndStop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.drain)
	defer cancel()
	return f.Shutdown(ctx)
}

// accept takes connections and gives each a goroutine, until the Front stops or the listener breaks.
func (f *Front) accept() error {
	var pause time.Duration
	var warned time.Time
	for {
		raw, err := f.ln.Accept()
		switch {
		case err == nil:
			pause = 0
		case f.isStopping():
			return nil
		case starved(err):
			f.lobby.pushOut()
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			f.log.Warn("cannot accept connections", "error", err, "retryIn", pause)
			select {
			case <-time.After(pause):
			case <-f.stopping:
				return nil
			}
			continue
		default:
			return fmt.Errorf("tlsfront: accept: %w", err)
		}

		select {
		case f.slots <- struct{}{}:
		default:
			if now := time.Now(); now.Sub(warned) > time.Minute {
				warned = now
				f.log.Warn("all connections are taken", "limit", cap(f.slots))
			}
			f.lobby.pushOut()
			select {
			case f.slots <- struct{}{}:
			case <-f.stopping:
				_ = raw.Close() // it has not said anything yet
				return nil
			}
		}
		c := &conn{Conn: raw, release: func() { <-f.slots }}
		f.greeters.Go(func() { f.greet(c) })
	}
}

// starved tells whether accepting failed for want of something that other connections will give back.
func starved(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// greet waits for c's first byte and sends it where it belongs.
func (f *Front) greet(c *conn) {
	place := f.lobby.enter(c)
	if place == nil || c.SetReadDeadline(time.Now().Add(f.firstByte)) != nil {
		_ = c.Close()
		return
	}
	first, err := c.peek()
	switch {
	case err != nil:
		f.lobby.leave(place)
		_ = c.Close()
	case first != recordHandshake:
		f.refuse(c, place)
	case !f.lobby.leave(place) || c.SetReadDeadline(time.Time{}) != nil || !f.settling.enter(c):
		_ = c.Close()
	default:
		f.secure.pass(c)
	}
}

// Shutdown stops accepting, closes the connections that are idle or have said nothing, gives those in the
// handshake half a second to bring their first request, and lets running requests finish until ctx ends; then it
// closes them and returns an error that wraps ctx's. A request that crosses the closing of an idle connection is
// lost, never half done: the handler does not see it. Safe to call more than once, and before Serve.
func (f *Front) Shutdown(ctx context.Context) error {
	srv, err := f.beginStop()
	if srv != nil {
		f.settling.wait(f.settle, ctx.Done())
		err = errors.Join(err, srv.Shutdown(ctx))
	}
	_ = f.secure.Close() // net/http has done so, unless it never got to accept

	greeted := make(chan struct{})
	go func() {
		f.greeters.Wait()
		close(greeted)
	}()
	select {
	case <-greeted:
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		err = fmt.Errorf("tlsfront: shut down: %w", err)
		f.abort()
		if srv != nil {
			err = errors.Join(err, srv.Close())
		}
	}
	<-greeted

	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.stopped:
	default:
		f.abort()
		close(f.stopped)
	}
	return err
}

// beginStop closes the port and what has not said anything yet; it returns the server to shut down, if any.
func (f *Front) beginStop() (*http.Server, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isStopping() {
		return f.srv, nil
	}
	close(f.stopping)
	err := f.ln.Close()
	f.lobby.close()
	return f.srv, err
}

func (f *Front) isStopping() bool {
	select {
	case <-f.stopping:
		return true
	default:
		return false
	}
}
