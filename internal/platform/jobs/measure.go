package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Outcomes of an attempt at a job, as the metrics name them.
const (
	done      = "done"
	snoozed   = "snoozed" // the job waits for something and is tried again later
	cancelled = "cancelled"
	failed    = "failed" // the job is tried again
)

// Measured records in Prometheus how late jobs begin and how long attempts take.
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

// show creates the series of each queue, so that they exist before the first job.
func (m *measurer) show(queues map[string]river.QueueConfig) {
	for queue := range queues {
		m.late.WithLabelValues(queue)
		for _, outcome := range []string{done, snoozed, cancelled, failed} {
			m.took.WithLabelValues(queue, outcome)
		}
	}
}

// Work measures one attempt. River calls it as middleware around the worker.
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
