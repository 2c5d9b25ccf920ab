package tlsfront

import (
	"log/slog"
	"time"
)

const (
	defaultMaxConns   = 10_000
	defaultMaxWaiting = 2_048
	defaultDrain      = 30 * time.Second
	firstByteTimeout  = 10 * time.Second
	lingerTime        = time.Second
	settleTime        = 500 * time.Millisecond
)

// Option changes a default of Listen.
type Option func(*Front)

// WithMaxConns limits the connections open at once, TLS and plain together; default 10,000. Above it, a
// connection that has not said anything yet is given up for the new one; when there is none, accepting pauses
// until a connection ends, and newcomers queue in the kernel. Values below 1 mean 1.
func WithMaxConns(n int) Option { return func(f *Front) { f.slots = make(chan struct{}, max(n, 1)) } }

// WithMaxWaiting limits the connections that have not said yet whether they speak TLS; default 2,048. Above it
// the longest waiting one is closed. Values below 1 mean 1.
func WithMaxWaiting(n int) Option { return func(f *Front) { f.lobby.limit = max(n, 1) } }

// WithDrain sets how long running requests may take to finish once Serve's context has ended; default 30 s.
func WithDrain(d time.Duration) Option { return func(f *Front) { f.drain = d } }

// WithLogger sets where warnings go; default slog.Default().
func WithLogger(l *slog.Logger) Option { return func(f *Front) { f.log = l } }
