package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Option tells a queue of a kind of job. Packages of the domain bring theirs.
type Option func(*kinds)

// kinds are the jobs that a queue knows.
type kinds struct {
	workers  *river.Workers
	periodic []*river.PeriodicJob
	args     []river.JobArgs
	queues   map[string]river.QueueConfig
	sweeps   []Sweep
	measurer *measurer // nil where nobody measures
}

// All is several options in one.
func All(options ...Option) Option {
	return func(k *kinds) {
		for _, o := range options {
			o(k)
		}
	}
}

// Work makes the queue perform the jobs of one kind.
func Work[T river.JobArgs](w river.Worker[T]) Option {
	return func(k *kinds) { river.AddWorker(k.workers, w) }
}

// Every makes the queue do a job when it starts and at intervals, one node for all, and whenever the product's time is
// moved forward.
func Every(interval time.Duration, args river.JobArgs) Option {
	return func(k *kinds) {
		k.args = append(k.args, args)
		k.periodic = append(k.periodic, river.NewPeriodicJob(river.PeriodicInterval(interval),
			func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: true}))
	}
}

// NamedQueue gives the jobs whose InsertOpts name the queue workers of their own, so many on each node: jobs that wait for
// somebody else's server must not hold up the rest.
func NamedQueue(queue string, workers int) Option {
	return func(k *kinds) {
		k.queues[queue] = river.QueueConfig{MaxWorkers: workers, FetchPollInterval: pollInterval}
	}
}

// BulkQueue is NamedQueue for jobs that may wait a second where no notification tells of them: it polls no more often.
func BulkQueue(queue string, workers int) Option {
	return func(k *kinds) { k.queues[queue] = river.QueueConfig{MaxWorkers: workers} }
}
