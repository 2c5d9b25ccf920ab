package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/platform/store"
)

// Reasons why a subscription ended. The watcher has to read everything again and to subscribe again.
var (
	ErrBehind = errors.New("feed: more changes are waiting than the subscription holds")
	ErrLost   = errors.New("feed: changes may have been missed")
	ErrClosed = errors.New("feed: closed")
)

// Options are the dependencies of a feed.
type Options struct {
	Store   *store.Store
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: no metrics
}

// Feed finds changes. There is one per process. Safe for concurrent use.
type Feed struct {
	store   *store.Store
	log     *slog.Logger
	metrics *metrics
	pollers [kinds]*poller
	pace    pace

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New returns a feed, which reads nothing before the first subscription. Returns an error when the metrics are registered
// already.
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

// Close ends all subscriptions with ErrClosed and waits until all pollers have stopped.
func (f *Feed) Close() {
	for _, p := range f.pollers {
		p.close()
	}
	f.stop()
	f.running.Wait()
}

// Filter selects the changes of a kind that a subscription is about.
type Filter struct {
	CompanyID string // required
	ID        string // only this row; empty for all rows
	ParentID  string // only rows with this parent; empty for all rows
}

// holds reports whether the filter selects a change of its company.
func (f Filter) holds(c Change) bool {
	return (f.ID == "" || f.ID == c.ID) && (f.ParentID == "" || f.ParentID == c.ParentID)
}

// Subscribe begins to watch: every change that commits after it has returned is reported. The caller must close the
// subscription. Returns ctx's error when ctx ends before the first look succeeds, or ErrClosed.
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
