package webhook

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/ent/webhookdelivery"
)

// metrics are the Prometheus metrics of deliveries. No label holds a company's or customer's text.
type metrics struct {
	attempts *prometheus.HistogramVec // by result: 2xx … 5xx, a class of failure, disabled, hidden
	settled  *prometheus.CounterVec   // by outcome
	delay    prometheus.Histogram     // of first attempts
	snoozed  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, l *limits) (*metrics, error) {
	m := &metrics{
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atrium_webhook_attempt_duration_seconds", Help: "How long receivers took, by result: a class of status or of failure.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"result"}),
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_webhook_deliveries_total", Help: "Deliveries that were settled, by outcome.",
		}, []string{"outcome"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "atrium_webhook_first_attempt_delay_seconds", Help: "From an event to the end of the first attempt to deliver it, the receiver's time left out.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
		snoozed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "atrium_webhook_snoozed_total", Help: "Jobs that snoozed because their receiver had as many calls under way as it may, or had not answered an earlier event of the same resource.",
		}),
	}
	if r == nil {
		return m, nil
	}
	underway := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "atrium_webhook_calls_underway", Help: "Calls of receivers that are under way on this node.",
	}, func() float64 { return float64(l.underway()) })
	var errs []error
	for _, c := range []prometheus.Collector{m.attempts, m.settled, m.delay, m.snoozed, underway} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

// attempted counts an attempt that was recorded. made is when the delivery was made, in the product's time.
func (m *metrics) attempted(r report, outcome webhookdelivery.Outcome, made time.Time, args AttemptArgs) {
	m.attempts.WithLabelValues(r.result).Observe(r.took.Seconds())
	if outcome != webhookdelivery.OutcomePENDING {
		m.settled.WithLabelValues(string(outcome)).Inc()
	}
	if args.Attempt == 1 {
		m.delay.Observe(max(0, r.attempt.At.Sub(made).Seconds()))
	}
}
