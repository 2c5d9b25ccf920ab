package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// Unpolled is Apart without looking by itself: its jobs are worked when somebody tells of them, or not at all.
func Unpolled(queue string, workers int) Option {
	return func(k *kinds) {
		k.queues[queue] = river.QueueConfig{MaxWorkers: workers, FetchPollInterval: time.Hour}
	}
}

// FetchCooldown is how long jobs must lie apart so that each is told of.
const FetchCooldown = fetchCooldown
