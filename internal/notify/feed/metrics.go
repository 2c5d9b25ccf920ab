package feed

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the Prometheus metrics of the feed, by kind. No label contains a company.
type metrics struct {
	looks   *prometheus.HistogramVec
	failed  *prometheus.CounterVec
	changes *prometheus.CounterVec
	ended   *prometheus.CounterVec // by reason: behind, lost
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		looks: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atrium_feed_look_duration_seconds", Help: "How long looking for changes took, by kind. Nobody looks for what nobody watches.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
		}, []string{"kind"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_feed_look_failures_total", Help: "Looks for changes that the database did not answer, by kind.",
		}, []string{"kind"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_feed_changes_total", Help: "Changes that were found for those who watch on this node, by kind.",
		}, []string{"kind"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "atrium_feed_subscriptions_lost_total", Help: "Subscriptions that ended because changes were or may have been missed, by kind and reason.",
		}, []string{"kind", "reason"}),
	}
	if r == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.looks, m.failed, m.changes, m.ended} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}
