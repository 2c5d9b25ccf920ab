package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/store"
)

// Why a subscription ended. Whoever watched has to read everything anew, and to subscribe again.
var (
	ErrBehind = errors.New("feed: more changes are waiting than the subscription holds")
	ErrLost   = errors.New("feed: changes may have been missed")
	ErrClosed = errors.New("feed: closed")
)

// Options are what a feed needs.
type Options struct {
	Store   *store.Store
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: nobody counts
}

// Feed finds changes. One a process; safe for concurrent use.
type Feed struct {
	store   *store.Store
	log     *slog.Logger
	metrics *metrics
	pollers [kinds]*poller
	pace    pace

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New returns a feed, which reads nothing until somebody subscribes. It fails for metrics that are registered already.
func New(o Options) (*Feed, error) {
	m, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("register the metrics of the feed: %w", err)
	}
	f := &Feed{store: o.Store, log: o.Log, metrics: m, pace: usual}
	ctx, stop := context.WithCancel(context.Background())
	f.stop = stop
	for k := range f.pollers {
		f.pollers[k] = newPoller(ctx, f, &sources[k])
	}
	return f, nil
}

// Close ends all subscriptions with ErrClosed, and waits until nothing reads any more.
func (f *Feed) Close() {
	for _, p := range f.pollers {
		p.close()
	}
	f.stop()
	f.running.Wait()
}

// Filter says which changes of a kind a subscription is about.
type Filter struct {
	CompanyID string // required
	ID        string // of this row alone; empty for every row
	ParentID  string // of rows that belong to this one; empty for every row
}

// holds reports whether a change of the company is one of the filter's.
func (f Filter) holds(c Change) bool {
	return (f.ID == "" || f.ID == c.ID) && (f.ParentID == "" || f.ParentID == c.ParentID)
}

// Subscribe begins to watch: every change that commits after it returned will be told. The caller closes what it returns.
// Returns ctx's error when the database does not answer in time, or ErrClosed.
func (f *Feed) Subscribe(ctx context.Context, k Kind, of Filter) (*Subscription, error) {
	if of.CompanyID == "" {
		return nil, errors.New("feed: a subscription without a company")
	}
	s := newSubscription(f.pollers[k], of)
	if err := s.poller.join(s); err != nil {
		return nil, err
	}
	select {
	case <-s.begun:
		if err := s.ended(); err != nil {
			return nil, err
		}
		return s, nil
	case <-ctx.Done():
		s.Close()
		return nil, fmt.Errorf("begin to watch: %w", context.Cause(ctx))
	}
}
