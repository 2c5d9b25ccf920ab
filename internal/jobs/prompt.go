package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Prompt is Apart for jobs that somebody waits for: they are fetched within milliseconds of being due, where
// store.WakeQueue tells of them, and within a second in any case.
func Prompt(queue string, workers int) Option {
	return func(k *kinds) {
		Apart(queue, workers)(k)
		k.queues[queue] = river.QueueConfig{MaxWorkers: workers, FetchCooldown: 5 * time.Millisecond, FetchPollInterval: time.Second}
	}
}
