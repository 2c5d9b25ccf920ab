package tlsfront

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxConns  = 10_000           // open at once; newcomers beyond it wait in the kernel
	drainTime = 30 * time.Second // for running requests, when Serve's context ends
	quietTime = time.Second      // without a request, after which a server that shuts down need not wait any longer
)

// Front is one listening port. Make it with Listen and run it with Serve.
type Front struct {
	cfg    *tls.Config
	ln     net.Listener
	drain  time.Duration
	linger time.Duration // for a plain client to take its answer

	running atomic.Int64 // requests
}

// Listen opens a TCP port ("127.0.0.1:8443"; port 0 picks a free one) for TLS with cfg, which must hold a
// certificate or a way to get one. cfg is copied; the copy speaks TLS 1.2 at least and offers h2 and HTTP/1.1
// besides cfg's own protocols. Connections wait in the kernel until Serve.
func Listen(addr string, cfg *tls.Config) (*Front, error) { return listen(addr, cfg, maxConns) }

func listen(addr string, cfg *tls.Config, conns int) (*Front, error) {
	if cfg == nil || len(cfg.Certificates) == 0 && cfg.GetCertificate == nil && cfg.GetConfigForClient == nil {
		return nil, errors.New("tlsfront: the TLS configuration has no certificate")
	}
	f := &Front{cfg: cfg.Clone(), drain: drainTime, linger: lingerTime}
	f.cfg.MinVersion = max(f.cfg.MinVersion, tls.VersionTLS12)
	f.cfg.NextProtos = withHTTP(f.cfg.NextProtos)
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("tlsfront: %w", err)
	}
	f.ln = netutil.LimitListener(&peeking{Listener: ln, front: f}, conns)
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

// Serve answers connections with srv until ctx ends, and returns when all of them are closed: nil, or what went
// wrong. Running requests get 30 seconds to finish; context.DeadlineExceeded says that some were cut off. Serve sets
// srv.TLSConfig and wraps srv.Handler; all else about srv is the caller's, above all ReadHeaderTimeout, which bounds
// how long a new connection may stay silent. A Front serves once.
func (f *Front) Serve(ctx context.Context, srv *http.Server) error {
	srv.TLSConfig, srv.Handler = f.cfg, f.count(srv.Handler)
	served := make(chan error, 1)
	go func() {
		served <- srv.ServeTLS(f.ln, "", "")
		close(served)
	}()
	var broken error
	select {
	case <-ctx.Done():
	case err := <-served:
		broken = fmt.Errorf("tlsfront: serve: %w", err)
	}
	err := f.shutDown(context.WithoutCancel(ctx), srv)
	<-served //nolint:errcheck // it says that the server was closed
	return errors.Join(broken, err)
}

// count counts the requests that h answers.
func (f *Front) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.running.Add(1)
		defer f.running.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// shutDown is srv.Shutdown within the time to drain. It also closes what is open once no request has run for a second:
// net/http does not tell an h2 connection to go away whose handshake ends meanwhile, and then waits for it in vain.
func (f *Front) shutDown(ctx context.Context, srv *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, f.drain)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- srv.Shutdown(ctx) }()
	tick := time.NewTicker(quietTime / 10)
	defer tick.Stop()
	for quiet := 0; ; {
		select {
		case err := <-done:
			if err != nil {
				err = errors.Join(fmt.Errorf("tlsfront: shut down: %w", err), srv.Close())
			}
			return err
		case <-tick.C:
			if quiet++; f.running.Load() > 0 {
				quiet = 0
			}
			if quiet == 10 {
				_ = srv.Close() // Shutdown returns
			}
		}
	}
}
