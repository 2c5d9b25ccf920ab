package jobs

import "github.com/riverqueue/river"

// Apart gives the jobs that name a queue workers of their own, so many a node: what waits for somebody else's server
// must not hold up the rest. Such jobs name it in their InsertOpts.
func Apart(queue string, workers int) Option {
	return func(k *kinds) {
		if k.queues == nil {
			k.queues = map[string]river.QueueConfig{}
		}
		k.queues[queue] = river.QueueConfig{MaxWorkers: workers}
	}
}

// All is several options in one.
func All(options ...Option) Option {
	return func(k *kinds) {
		for _, o := range options {
			o(k)
		}
	}
}
