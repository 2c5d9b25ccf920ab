package identity

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atrium/ent/oauthclient"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// How long cached origins are used although clients may have changed since. Questions about unknown origins cost at most one
// query a second. The origin of a deleted client may be found a little longer, because an origin decides only who may read an
// answer, not who gets one.
const (
	unknownFor = time.Second
	knownFor   = time.Minute
	readWithin = 2 * time.Second // the longest that a database which hangs delays an answer
)

// Origins knows the origins of all clients' redirect URIs. Pages of these origins may read the answers of the identity
// provider and the API. Safe for concurrent use.
type Origins struct {
	store *store.Store
	log   *slog.Logger
	base  string // the product's own origin, which is one of them

	mu     sync.Mutex // held while reading from the database
	cached atomic.Pointer[cachedOrigins]
}

// cachedOrigins are the origins as they were read.
type cachedOrigins struct {
	known   map[string]struct{}
	version uint64    // the authority's version when they were read
	read    time.Time // when they were read, by the machine's clock
}

// NewOrigins returns the origins of the store's clients. It reads nothing before the first question.
func NewOrigins(s *store.Store, log *slog.Logger, baseURL string) *Origins {
	o := &Origins{store: s, log: log, base: portless(OriginOf(baseURL))}
	o.cached.Store(&cachedOrigins{version: math.MaxUint64})
	return o
}

// Has reports whether an origin, as a browser sends it, belongs to a client.
func (o *Origins) Has(ctx context.Context, origin string) bool {
	if origin = portless(origin); origin == "" {
		return false
	}
	if ok, current := o.known(origin); current {
		return ok
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ok, current := o.known(origin)
	if !current {
		o.read(ctx)
		ok, _ = o.known(origin)
	}
	return ok
}

// known reports whether an origin is known, and whether the cached answer is still valid.
func (o *Origins) known(origin string) (ok, current bool) {
	cached := o.cached.Load()
	_, ok = cached.known[origin]
	within := unknownFor
	if ok {
		within = knownFor
	}
	version, heard := o.store.Authority()
	return ok, heard && version == cached.version || time.Since(cached.read) < within
}

// read reads the clients. If that fails, it keeps the known origins, and the next attempt waits a moment.
func (o *Origins) read(ctx context.Context) {
	version, _ := o.store.Authority()
	known, err := o.readClients(ctx)
	if err != nil {
		o.log.WarnContext(ctx, "the origins of the clients were not read", "error", err)
		known, version = o.cached.Load().known, math.MaxUint64
	}
	o.cached.Store(&cachedOrigins{known: known, version: version, read: time.Now()})
}

func (o *Origins) readClients(ctx context.Context) (map[string]struct{}, error) {
	// What is read answers every caller, so it does not end with the one who asks.
	ctx, cancel := context.WithTimeout(principal.System(context.WithoutCancel(ctx), "which page asks is not known; any company's client may be its"), readWithin)
	defer cancel()
	rows, err := o.store.Reader().OAuthClient.Query().Select(oauthclient.FieldRedirectUris).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the clients: %w", err)
	}
	known := map[string]struct{}{o.base: {}}
	for _, row := range rows {
		for _, uri := range row.RedirectUris {
			known[portless(OriginOf(uri))] = struct{}{}
		}
	}
	return known, nil
}

// portless removes the port from an origin on a loopback address, where every port matches; empty if it is no origin.
func portless(origin string) string {
	if host, rest, ok := loopback(origin); ok && rest == "" {
		return host
	}
	if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Path != "" || strings.ContainsAny(origin, "?#@") {
		return ""
	}
	return origin
}
