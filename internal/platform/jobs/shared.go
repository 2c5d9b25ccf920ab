package jobs

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/share"
)

// SharedQueue is NamedQueue for a queue in which a company takes at most `each` of the workers at a time. A further job of the company
// gives its worker back at once: the jobs of a company that wait come again one after the other, as fast as those before them have been
// worked lately. Jobs name their company by the argument "company"; those without take any worker.
func SharedQueue(queue string, workers, each int) Option {
	return func(k *kinds) {
		NamedQueue(queue, workers)(k)
		k.shares[queue] = each
	}
}

const (
	firstAgain  = 100 * time.Millisecond // until a job comes again for which its company had no worker
	longestLine = 30 * time.Second
)

// shared are the shared queues of a node, by name. It is middleware around the workers.
type shared struct {
	river.MiddlewareDefaults
	queues map[string]*sharedQueue
}

func newShared(shares map[string]int, queues map[string]river.QueueConfig) *shared {
	s := &shared{queues: map[string]*sharedQueue{}}
	for name, each := range shares {
		s.queues[name] = &sharedQueue{places: share.New(queues[name].MaxWorkers, each), each: each, lines: map[string]*line{}}
	}
	return s
}

// Work works a job if its company has a worker left.
func (s *shared) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	q := s.queues[job.Queue]
	if q == nil {
		return work(ctx)
	}
	var of struct {
		Company string `json:"company"`
	}
	if err := json.Unmarshal(job.EncodedArgs, &of); err != nil || of.Company == "" {
		return work(ctx) // the worker says what is wrong with the arguments
	}
	leave, ok := q.places.TakeNow(of.Company)
	if !ok {
		return river.JobSnooze(q.snooze(of.Company, time.Now()))
	}
	defer leave()
	began := time.Now()
	defer func() { q.worked(of.Company, time.Since(began)) }()
	return work(ctx)
}

// sharedQueue is a queue whose workers companies share.
type sharedQueue struct {
	places *share.Places
	each   int

	mu    sync.Mutex
	lines map[string]*line // by company
}

// line are the jobs of a company that wait.
type line struct {
	last time.Time     // when the last of them will come again
	took time.Duration // what a job has taken lately
}

// snooze returns how long a job of a company waits: until those that wait already have been worked, as far as is known.
func (q *sharedQueue) snooze(company string, now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[company]
	if l == nil {
		l = &line{}
		q.lines[company] = l
	}
	first := now.Add(firstAgain)
	switch {
	case l.last.Before(first):
		l.last = first
	case l.last.Sub(now) > longestLine: // they come in the order of their places, a few at a time
		return longestLine + rand.N(longestLine)
	}
	l.last = l.last.Add(max(l.took/time.Duration(q.each), time.Millisecond))
	return l.last.Sub(now)
}

// worked notes how long a job of a company took, and forgets the lines in which nobody waits.
func (q *sharedQueue) worked(company string, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lines[company]
	if l == nil {
		return
	}
	l.took = (3*l.took + took) / 4
	if l.last.Before(time.Now()) {
		delete(q.lines, company)
	}
}
