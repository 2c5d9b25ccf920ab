package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// Unpolled is NamedQueue with a poll interval of an hour: its jobs are worked only when a notification announces them.
func Unpolled(queue string, workers int) Option {
	return func(k *kinds) {
		k.queues[queue] = river.QueueConfig{MaxWorkers: workers, FetchPollInterval: time.Hour}
	}
}

// FetchCooldown is the least time between two inserts for which each gets a notification of its own.
const FetchCooldown = fetchCooldown

// Keep is what a working queue does every few seconds: the jobs that it has worked since before a moment count as just begun.
func (q *Queue) Keep(ctx context.Context, moment time.Time) error { return q.keep(ctx, moment) }
