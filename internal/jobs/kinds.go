package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Option tells a queue of a kind of job. Packages of the domain bring theirs; cmd gives the same ones to every node,
// whether it works jobs or only inserts them.
type Option func(*kinds)

// kinds are the jobs that a queue knows.
type kinds struct {
	workers  *river.Workers
	periodic []*river.PeriodicJob
	args     []river.JobArgs
	queues   map[string]river.QueueConfig // besides the default one
	finisher *Finisher
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
