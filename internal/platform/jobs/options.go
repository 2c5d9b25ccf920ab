package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Option registers jobs or settings with a queue. Domain packages provide theirs.
type Option func(*kinds)

// kinds collects what the options of a queue register.
type kinds struct {
	workers  *river.Workers
	periodic []*river.PeriodicJob
	args     []river.JobArgs
	queues   map[string]river.QueueConfig
	shares   map[string]int // by shared queue: how many of its workers one company takes at a time
	sweeps   []Sweep
	measurer *measurer // nil: no metrics
	reap     reap
}

// reap is how often a node on PostgreSQL looks for dead nodes, and how long one is without its lock before it counts as dead: its connection
// may have broken.
type reap struct{ every, grace time.Duration }

// Reap sets how often a node on PostgreSQL looks for dead nodes (2 s), and how long one is without its lock before it counts as dead (5 s).
func Reap(every, grace time.Duration) Option {
	return func(k *kinds) { k.reap = reap{every, grace} }
}

// All combines several options into one.
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

// Every makes the queue insert a job when it starts and then at intervals, once for all nodes, and also whenever the product's
// clock is moved forward. A job that comes at least hourly is not retried: the next one is the retry. Otherwise the retries of one
// that fails each time would run beside those of all later ones.
func Every(interval time.Duration, args river.JobArgs) Option {
	var opts river.InsertOpts
	if interval <= time.Hour {
		opts.MaxAttempts = 1
	}
	return func(k *kinds) {
		k.args = append(k.args, args)
		k.periodic = append(k.periodic, river.NewPeriodicJob(river.PeriodicInterval(interval),
			func() (river.JobArgs, *river.InsertOpts) { return args, &opts }, &river.PeriodicJobOpts{RunOnStart: true}))
	}
}

// NamedQueue gives the jobs whose InsertOpts name the queue their own workers, that many on each node. Jobs that wait for
// somebody else's server must not hold up other jobs.
func NamedQueue(queue string, workers int) Option {
	return func(k *kinds) { k.queues[queue] = river.QueueConfig{MaxWorkers: workers} }
}
