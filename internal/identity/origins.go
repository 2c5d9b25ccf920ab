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
	"atrium/internal/principal"
	"atrium/internal/store"
)

// How long the origins that were read answer for themselves when clients may have changed since. What pages of unknown
// origins ask costs one query a second at most; a client that was deleted may be found a little longer, as its origin says who
// may read an answer and not who gets one.
const (
	unknownFor = time.Second
	knownFor   = time.Minute
	readWithin = 2 * time.Second // a database that hangs holds nobody longer
)

// Origins knows the origins of all clients' redirect URIs: those whose pages may read what the identity provider and the
// API answer. Safe for concurrent use.
type Origins struct {
	store *store.Store
	log   *slog.Logger
	base  string // the product's own, which belongs to them

	mu   sync.Mutex // held while reading
	kept atomic.Pointer[keptOrigins]
}

// keptOrigins are the origins as they were read.
type keptOrigins struct {
	known   map[string]struct{}
	version uint64    // of the authority that they were read under
	read    time.Time // by the machine's clock
}

// NewOrigins returns the origins of the clients in the store. Nothing is read before the first question.
func NewOrigins(s *store.Store, log *slog.Logger, baseURL string) *Origins {
	o := &Origins{store: s, log: log, base: portless(OriginOf(baseURL))}
	o.kept.Store(&keptOrigins{version: math.MaxUint64})
	return o
}

// Has reports whether an origin, as a browser sends it, belongs to a client.
func (o *Origins) Has(ctx context.Context, origin string) bool {
	if origin = portless(origin); origin == "" {
		return false
	}
	if ok, current := o.look(origin); current {
		return ok
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	ok, current := o.look(origin)
	if !current {
		o.read(ctx)
		ok, _ = o.look(origin)
	}
	return ok
}

// look reports whether an origin is known, and whether that can be relied on.
func (o *Origins) look(origin string) (ok, current bool) {
	kept := o.kept.Load()
	_, ok = kept.known[origin]
	within := unknownFor
	if ok {
		within = knownFor
	}
	version, heard := o.store.Authority()
	return ok, heard && version == kept.version || time.Since(kept.read) < within
}

// read reads the clients. Where that fails what was known stays, and is not read again for a moment.
func (o *Origins) read(ctx context.Context) {
	version, _ := o.store.Authority()
	known, err := o.readClients(ctx)
	if err != nil {
		o.log.WarnContext(ctx, "the origins of the clients were not read", "error", err)
		known, version = o.kept.Load().known, math.MaxUint64
	}
	o.kept.Store(&keptOrigins{known: known, version: version, read: time.Now()})
}

func (o *Origins) readClients(ctx context.Context) (map[string]struct{}, error) {
	ctx, cancel := context.WithTimeout(principal.System(ctx, "which page asks is not known; any company's client may be its"), readWithin)
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

// portless takes the port off an origin on a loopback address, where any one matches; empty for what is no origin.
func portless(origin string) string {
	if host, rest, ok := loopback(origin); ok && rest == "" {
		return host
	}
	if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Path != "" || strings.ContainsAny(origin, "?#@") {
		return ""
	}
	return origin
}
