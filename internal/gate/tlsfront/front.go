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
	maxConns  = 10_000           // open at once; further connections wait in the kernel
	drainTime = 30 * time.Second // for running requests, after Serve's context has ended
	quietTime = time.Second      // without a request, after which a shutdown stops waiting for connections
)

// Front is one listening port. Create it with Listen and run it with Serve.
type Front struct {
	cfg    *tls.Config
	ln     net.Listener
	drain  time.Duration
	linger time.Duration // how long a plain client may take to read its answer

	running atomic.Int64 // running requests
}

// Listen opens a TCP port ("127.0.0.1:8443"; port 0 picks a free one) for TLS with cfg, which must contain a certificate or a
// function that returns one. cfg is copied; the copy requires at least TLS 1.2 and offers h2 and HTTP/1.1 besides cfg's own
// protocols. Connections wait in the kernel until Serve.
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

// withHTTP puts h2 and http/1.1 first, unless protos already contains them.
func withHTTP(protos []string) []string {
	out := slices.Clone(protos)
	for _, p := range []string{"http/1.1", "h2"} {
		if !slices.Contains(out, p) {
			out = slices.Insert(out, 0, p)
		}
	}
	return out
}

// Addr returns the address of the listener, with the actual port.
func (f *Front) Addr() net.Addr { return f.ln.Addr() }

// Serve serves connections with srv until ctx ends, and returns when all of them are closed: nil, or the error. Running
// requests get 30 seconds to finish; context.DeadlineExceeded means that some were cut off. Serve sets srv.TLSConfig and wraps
// srv.Handler. The caller sets everything else in srv, above all ReadHeaderTimeout, which bounds how long a new connection may
// stay silent. Call Serve once per Front.
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
	<-served //nolint:errcheck // only says that the server was closed
	return errors.Join(broken, err)
}

// count wraps h so that running requests are counted.
func (f *Front) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.running.Add(1)
		defer f.running.Add(-1)
		h.ServeHTTP(w, r)
	})
}

// shutDown is srv.Shutdown with a time limit. It closes all connections once no request has run for a second: net/http sends no
// GOAWAY to an h2 connection whose handshake ends during the shutdown, and would wait for it until the limit.
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
				_ = srv.Close() // makes Shutdown return
			}
		}
	}
}
