package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"atrium/ent"
	"atrium/internal/platform/principal"
)

// poller finds the changes of one kind while there are watchers.
//
//	no watchers ──join──▶ running: look, tell, rest ──the last one leaves──▶ no watchers
type poller struct {
	ctx    context.Context // ends when the feed is closed
	feed   *Feed
	source *source
	wake   chan struct{}

	mu      sync.Mutex
	closed  bool
	running bool
	joining map[*Subscription]struct{}            // not active before the next look
	active  map[string]map[*Subscription]struct{} // by company
}

func newPoller(ctx context.Context, f *Feed, s *source) *poller {
	return &poller{
		ctx: ctx, feed: f, source: s, wake: make(chan struct{}, 1),
		joining: map[*Subscription]struct{}{}, active: map[string]map[*Subscription]struct{}{},
	}
}

// join adds a subscription, which becomes active after the next look, and makes that look start at once.
func (p *poller) join(s *Subscription) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.joining[s] = struct{}{}
	if !p.running {
		p.running = true
		p.feed.running.Go(p.run)
	}
	p.kick()
	return nil
}

// leave removes a subscription.
func (p *poller) leave(s *Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.joining, s)
	if of := p.active[s.filter.CompanyID]; of != nil {
		delete(of, s)
		if len(of) == 0 {
			delete(p.active, s.filter.CompanyID)
		}
	}
	if len(p.joining)+len(p.active) == 0 {
		p.kick() // so that the poller stops
	}
}

// close ends all subscriptions and refuses new ones.
func (p *poller) close() {
	p.mu.Lock()
	p.closed = true
	for s := range p.joining {
		s.end(ErrClosed)
		close(s.begun)
	}
	clear(p.joining)
	p.mu.Unlock()
	p.endAll(ErrClosed)
}

// endAll ends the active subscriptions with an error.
func (p *poller) endAll(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.active {
		for s := range of {
			if s.end(err) && errors.Is(err, ErrLost) {
				p.feed.metrics.ended.WithLabelValues(p.source.name, "lost").Inc()
			}
		}
	}
	clear(p.active)
	p.kick()
}

// kick wakes the poller for its next look.
func (p *poller) kick() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run looks for changes until there are no watchers left.
func (p *poller) run() {
	defer p.feed.store.OnCommit(p.kick)()
	t := newTrack(p.feed.pace, time.Now(), p.clock())
	for {
		companies, joining, ok := p.watched()
		if !ok {
			return
		}
		err := p.advance(t, companies, joining)
		switch {
		case err == nil:
			p.begin(joining)
		case errors.Is(err, errTooMany), time.Since(t.sound) > t.away:
			p.feed.log.ErrorContext(p.ctx, "changes may have been missed: those who watch have to begin anew", "kind", p.source.name, "error", err)
			p.endAll(ErrLost)
			t = newTrack(p.feed.pace, time.Now(), p.clock())
		case p.ctx.Err() == nil && !t.failing:
			t.failing = true
			p.feed.log.WarnContext(p.ctx, "looking for changes failed", "kind", p.source.name, "error", err)
		}
		t.rest(p.ctx, p.wake)
	}
}

func (p *poller) clock() time.Time { return p.source.clock(p.feed.store) }

// watched returns the companies to look for and the subscriptions that wait to become active. It returns false when there are
// no subscriptions; the poller then no longer counts as running.
func (p *poller) watched() (companies []string, joining []*Subscription, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.joining)+len(p.active) == 0 {
		p.running = false
		return nil, nil, false
	}
	for id := range p.active {
		companies = append(companies, id)
	}
	added := map[string]bool{}
	for s := range p.joining {
		joining = append(joining, s)
		if id := s.filter.CompanyID; p.active[id] == nil && !added[id] {
			added[id] = true
			companies = append(companies, id)
		}
	}
	return companies, joining, true
}

// begin activates the subscriptions: they get every change from now on.
func (p *poller) begin(joining []*Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range joining {
		if _, waits := p.joining[s]; !waits {
			continue // it has left, or the feed is closed
		}
		delete(p.joining, s)
		of := p.active[s.filter.CompanyID]
		if of == nil {
			of = map[*Subscription]struct{}{}
			p.active[s.filter.CompanyID] = of
		}
		of[s] = struct{}{}
		close(s.begun)
	}
}

var errTooMany = errors.New("more changes than can be followed")

// advance reads the changes and reports the new ones. Changes that it has reported before an error stay reported.
func (p *poller) advance(t *track, companies []string, joining []*Subscription) error {
	began, clock := time.Now(), p.clock()
	from, sweep := t.next(began, len(joining) > 0)
	watched := make(map[string]bool, len(companies))
	for _, id := range companies {
		watched[id] = true
	}
	for range t.pages {
		list, err := p.read(from, companies, t.page)
		if err != nil {
			p.feed.metrics.failed.WithLabelValues(p.source.name).Inc()
			return err
		}
		for _, f := range list {
			if watched[f.CompanyID] && t.seen.fresh(f.key) {
				p.tell(f.Change)
			}
		}
		if t.seen.size() > t.remembered {
			return fmt.Errorf("%w: %d within the window", errTooMany, t.seen.size())
		}
		if len(list) < t.page {
			t.answered(sweep, began, clock)
			p.feed.metrics.looks.WithLabelValues(p.source.name).Observe(time.Since(began).Seconds())
			return nil
		}
		from = list[len(list)-1].position
	}
	return fmt.Errorf("%w: %d rows since the last look", errTooMany, t.page*t.pages)
}

// read reads a page of changes in all watched companies.
func (p *poller) read(from position, companies []string, limit int) ([]found, error) {
	ctx, cancel := context.WithTimeout(principal.System(p.ctx, "changes of all companies that are watched are read together"), statementTimeout)
	defer cancel()
	return p.source.read(ctx, ent.DriverOf(p.feed.store.Reader()), from, companies, limit)
}

// tell adds a change to the subscriptions whose filter selects it.
func (p *poller) tell(c Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if of := p.active[c.CompanyID]; len(of) > 0 {
		p.feed.metrics.changes.WithLabelValues(p.source.name).Inc()
		for s := range of {
			if s.filter.holds(c) {
				s.push(c)
			}
		}
	}
}
