package jobs

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"entgo.io/ent/dialect"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"atrium/internal/platform/store"
)

// wakes are the queues in which a job is due of which this process knows. Each queue that works jobs has them.
type wakes struct {
	works []string // the queues that are worked

	mu   sync.Mutex
	due  map[string]bool
	some chan struct{} // holds a value while there is one
}

// place is where this process keeps jobs: a SQLite file by its path, or a store of PostgreSQL.
type place any

func placeOf(s *store.Store) place {
	if s.Dialect() == dialect.SQLite {
		return s.Path()
	}
	return s
}

// woken holds the wakes of this process by their places: what inserts jobs is not what works them.
var woken = struct {
	sync.RWMutex
	by map[place][]*wakes
}{by: map[place][]*wakes{}}

// newWakes returns the wakes of a place's queues, until close is called.
func newWakes(at place, works []string) *wakes {
	w := &wakes{works: works, due: map[string]bool{}, some: make(chan struct{}, 1)}
	woken.Lock()
	defer woken.Unlock()
	woken.by[at] = append(woken.by[at], w)
	return w
}

func (w *wakes) close(at place) {
	woken.Lock()
	defer woken.Unlock()
	if woken.by[at] = slices.DeleteFunc(woken.by[at], func(other *wakes) bool { return other == w }); len(woken.by[at]) == 0 {
		delete(woken.by, at)
	}
}

// inserted wakes the queues of a place's new jobs that are due. Call it when their transaction has committed.
func inserted(at place, jobs []*rivertype.JobInsertResult) {
	woken.RLock()
	defer woken.RUnlock()
	for _, w := range woken.by[at] {
		for _, j := range jobs {
			if j.Job.State == rivertype.JobStateAvailable && slices.Contains(w.works, j.Job.Queue) {
				w.wake(j.Job.Queue)
			}
		}
	}
}

// wakesHere reports whether this process works the jobs of a place.
func wakesHere(at place) bool {
	woken.RLock()
	defer woken.RUnlock()
	return len(woken.by[at]) > 0
}

// wakeAll wakes all queues of a place.
func wakeAll(at place) {
	woken.RLock()
	defer woken.RUnlock()
	for _, w := range woken.by[at] {
		w.wake(w.works...)
	}
}

// wake makes River look for jobs of the queues.
func (w *wakes) wake(queues ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range queues {
		w.due[q] = true
	}
	w.signal()
}

func (w *wakes) signal() {
	if len(w.due) > 0 {
		select {
		case w.some <- struct{}{}:
		default:
		}
	}
}

// next returns a queue that is to be looked at, once.
func (w *wakes) next() (queue string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for queue = range w.due {
		delete(w.due, queue)
		w.signal()
		return queue, true
	}
	return "", false
}

// putOff are the events after which a job may be available, but not due yet.
var putOff = &river.SubscribeConfig{ChanSize: 10_000, Kinds: []river.EventKind{river.EventKindJobSnoozed, river.EventKindJobFailed}}

// follow wakes the queue of each job that was put off when it is due, until the events end. River itself announces the jobs that are
// put off for longer than ShortWait.
func (w *wakes) follow(events <-chan *river.Event) {
	for e := range events {
		if e.Job.State == rivertype.JobStateAvailable {
			time.AfterFunc(time.Until(e.Job.ScheduledAt), func() { w.wake(e.Job.Queue) })
		}
	}
}

// wokenDriver is River's driver for SQLite with a listener that hears of wakes.
type wokenDriver struct {
	*riversqlite.Driver
	file  string
	wakes *wakes // nil where it works no jobs
}

// SupportsListenNotify reports whether inserted jobs are announced in the file: not where this process, which wakes its queues itself, works
// jobs. What works them announces what others cannot know of, as jobs that have become due.
func (d wokenDriver) SupportsListenNotify() bool { return d.wakes != nil || !wakesHere(d.file) }

func (d wokenDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{Listener: d.Driver.GetListener(p), wakes: d.wakes}
}

// listener looks for the file's notifications, which other processes and River's scheduler write, every lookEvery instead of every
// riverLooks.
type listener struct {
	riverdriver.Listener
	wakes *wakes
}

const (
	lookEvery  = time.Second
	riverLooks = 50 * time.Millisecond // the pause of River's listener between two looks
)

// insertTopic and insertPayload are River's announcement of new jobs.
const insertTopic = "river_insert"

func insertPayload(queue string) string {
	payload, _ := json.Marshal(map[string]string{"queue": queue}) // a text always encodes
	return string(payload)
}

func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.wakes.some:
			if queue, ok := l.wakes.next(); ok {
				return &riverdriver.Notification{Topic: insertTopic, Payload: insertPayload(queue)}, nil
			}
		case <-look.C:
			if n, err := l.look(ctx); n != nil || err != nil {
				return n, err
			}
			look.Reset(lookEvery)
		}
	}
}

// look returns a notification of the file; nil when there is none.
func (l *listener) look(ctx context.Context) (*riverdriver.Notification, error) {
	once, cancel := context.WithTimeout(ctx, riverLooks/2)
	defer cancel()
	n, err := l.Listener.WaitForNotification(once)
	if err != nil && once.Err() != nil {
		return nil, nil // it would look a second time
	}
	return n, err
}

// announcedDriver is River's driver for PostgreSQL. Where this process works jobs, transactions that insert some say nothing of them: a
// commit that notifies waits for all others that do, and costs a round trip. What works jobs announces them after the commit.
type announcedDriver struct {
	*riverpgxv5.Driver
	at    place
	works bool
}

// SupportsListenNotify reports whether inserted jobs are announced within their transaction.
func (d announcedDriver) SupportsListenNotify() bool { return d.works || !wakesHere(d.at) }

// announce tells all nodes of the queues in which this process knows of a due job, until ctx ends: at once, and then of all that came
// meanwhile.
func (q *Queue) announce(ctx context.Context) {
	db := riverpgxv5.New(q.store.Pool()).GetExecutor()
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wakes.some:
		}
		var of []string
		for queue, ok := q.wakes.next(); ok; queue, ok = q.wakes.next() {
			of = append(of, insertPayload(queue))
		}
		if len(of) == 0 {
			continue // they went with those before
		}
		once, cancel := context.WithTimeout(ctx, lookTimeout)
		if err := db.NotifyMany(once, &riverdriver.NotifyManyParams{Topic: insertTopic, Payload: of}); err != nil && ctx.Err() == nil {
			q.log.WarnContext(ctx, "due jobs could not be announced: they wait for the next look", "error", err)
		}
		cancel()
		_ = store.Pause(ctx, fetchCooldown/2)
	}
}
