package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// How a job's attempt may end, as the metrics say it.
const (
	done      = "done"
	snoozed   = "snoozed" // it waits for something, and goes on later
	cancelled = "cancelled"
	failed    = "failed" // it is tried again
)

// Measured makes the queue tell Prometheus how long jobs wait behind their moment, and how long attempts at them take.
func Measured(r prometheus.Registerer) Option {
	m := &measurer{
		late: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atrium_job_delay_seconds", Help: "How long after their moment jobs were begun, by queue.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 1800},
		}, []string{"queue"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "atrium_job_duration_seconds", Help: "How long attempts at jobs took, by queue and by how they ended.",
			Buckets: []float64{.005, .025, .1, .5, 1, 5, 15, 60},
		}, []string{"queue", "outcome"}),
	}
	r.MustRegister(m.late, m.took)
	return func(k *kinds) { k.measurer = m }
}

type measurer struct {
	river.MiddlewareDefaults
	late, took *prometheus.HistogramVec
}

// show makes the series of the queues be there before their first job.
func (m *measurer) show(queues map[string]river.QueueConfig) {
	for queue := range queues {
		m.late.WithLabelValues(queue)
		for _, outcome := range []string{done, snoozed, cancelled, failed} {
			m.took.WithLabelValues(queue, outcome)
		}
	}
}

// Work measures one attempt. River calls it around the worker.
func (m *measurer) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	began := time.Now()
	m.late.WithLabelValues(job.Queue).Observe(max(0, began.Sub(job.ScheduledAt).Seconds()))
	err := work(ctx)
	m.took.WithLabelValues(job.Queue, outcomeOf(err)).Observe(time.Since(began).Seconds())
	return err
}

func outcomeOf(err error) string {
	if err == nil {
		return done
	}
	if _, ok := errors.AsType[*river.JobSnoozeError](err); ok {
		return snoozed
	}
	if _, ok := errors.AsType[*river.JobCancelError](err); ok {
		return cancelled
	}
	return failed
}
