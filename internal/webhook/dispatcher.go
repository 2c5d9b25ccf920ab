package webhook

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/egress"
	"atrium/internal/jobs"
	"atrium/internal/op"
	"atrium/internal/outbox"
	"atrium/internal/store"
)

// Options are what deliveries need.
type Options struct {
	Store   *store.Store
	Sealer  op.Sealer
	Egress  *egress.Client
	Mail    Mail                  // nil: nobody is told when a subscription is disabled
	Retries []time.Duration       // the waits before the retries; nil means DefaultRetries
	Metrics prometheus.Registerer // nil: nobody counts
	Log     *slog.Logger
}

// Dispatcher makes deliveries: it is what a job queue works the jobs of package outbox with. One a process.
type Dispatcher struct {
	store   *store.Store
	sealer  op.Sealer
	egress  *egress.Client
	mail    Mail
	log     *slog.Logger
	retries schedule
	metrics *metrics
	lanes   *lanes
	alarm   *alarm
	loads   *batcher[string, *ent.WebhookDelivery]
	records *batcher[record, webhookdelivery.Outcome]
	parks   *batcher[jobs.Back, struct{}]

	finisher *jobs.Finisher
	tidied   time.Time // of the one batch of records that is under way
}

// New returns a dispatcher. It fails for a schedule with a wait that is none, and for metrics that are registered
// already.
func New(o Options) (*Dispatcher, error) {
	d := &Dispatcher{store: o.Store, sealer: o.Sealer, egress: o.Egress, mail: o.Mail, log: o.Log, lanes: newLanes()}
	var err error
	if d.retries, err = newSchedule(o.Retries); err != nil {
		return nil, err
	}
	if d.metrics, err = newMetrics(o.Metrics, d.lanes); err != nil {
		return nil, fmt.Errorf("register the metrics of webhooks: %w", err)
	}
	d.alarm = newAlarm(func() { o.Store.WakeQueue(outbox.Queue) })
	d.loads = &batcher[string, *ent.WebhookDelivery]{most: maxLoad, do: d.load}
	d.records = &batcher[record, webhookdelivery.Outcome]{most: maxRecords, do: d.record}
	d.parks = &batcher[jobs.Back, struct{}]{most: maxParks, do: d.park}
	return d, nil
}

// Work makes a queue attempt deliveries, replay events and sweep the history.
func (d *Dispatcher) Work() jobs.Option {
	return jobs.All(
		jobs.Prompt(outbox.Queue, slots),
		jobs.Finishing(func(f *jobs.Finisher) { d.finisher = f }),
		jobs.Work(&worker{d: d}),
		jobs.Work(&replayer{d: d}),
		jobs.Work(&sweeper{store: d.store, weeks: weeks{d.store, d.log}}),
		jobs.Every(sweepEvery, SweepArgs{}),
	)
}

// Close ends what the dispatcher keeps open. The queue must have stopped.
func (d *Dispatcher) Close() {
	d.alarm.stop()
	d.egress.Close()
}
