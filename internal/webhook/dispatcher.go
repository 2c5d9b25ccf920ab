package webhook

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/op"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

// Options are what deliveries need.
type Options struct {
	Store   *store.Store
	Engine  *op.Engine  // knows what subscriptions may read
	Queue   *jobs.Queue // inserts the jobs of further attempts
	Sealer  op.Sealer
	Egress  *egress.Client
	Mail    Mail                  // nil: no notice is sent when a subscription is disabled
	Retries []time.Duration       // the waits before retries; nil means DefaultRetries
	Metrics prometheus.Registerer // nil: no metrics
	Log     *slog.Logger
}

// Dispatcher attempts deliveries. A process has one, and its job queue runs the dispatcher's jobs.
type Dispatcher struct {
	Options
	retries schedule
	metrics *metrics
	limits  *limits
	order   *order
}

// New returns a dispatcher. It fails for an invalid schedule of retries, and for metrics that are registered already.
func New(o Options) (*Dispatcher, error) {
	d := &Dispatcher{Options: o, limits: newLimits(), order: newOrder()}
	var err error
	if d.retries, err = newSchedule(o.Retries); err != nil {
		return nil, err
	}
	if d.metrics, err = newMetrics(o.Metrics, d.limits); err != nil {
		return nil, fmt.Errorf("register the metrics of webhooks: %w", err)
	}
	return d, nil
}

// Work returns the queue's option that attempts deliveries, replays events and sweeps the history.
func (d *Dispatcher) Work() jobs.Option {
	return jobs.All(
		jobs.NamedQueue(queueName, slots),
		jobs.Work(&worker{d: d}),
		jobs.Work(&replayer{store: d.Store, queue: d.Queue}),
		jobs.Work(&sweeper{store: d.Store, weeks: partitions{d.Store, d.Log}}),
		jobs.Every(sweepEvery, SweepArgs{}),
	)
}

// Close closes the client for outgoing calls. The queue must have stopped.
func (d *Dispatcher) Close() { d.Egress.Close() }
