package share

import (
	"context"
	"fmt"
	"sync"
)

// Places is a number of places of a process, of which a company takes only a few at a time. Who waits for a place waits behind
// the callers of the same company first, and then behind at most as many of each other company as it may take at a time.
type Places struct {
	all  chan struct{}
	each int

	mu        sync.Mutex
	companies map[string]*company
}

// company is what one company takes. It exists while somebody holds a place or waits for one.
type company struct {
	taken chan struct{}
	refs  int
}

// New returns places: all of them, and how many of them a company takes at a time.
func New(all, each int) *Places {
	return &Places{all: make(chan struct{}, all), each: each, companies: map[string]*company{}}
}

// of returns what a company takes, and a function that releases the reference to it.
func (p *Places) of(id string) (c *company, forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c = p.companies[id]
	if c == nil {
		c = &company{taken: make(chan struct{}, p.each)}
		p.companies[id] = c
	}
	c.refs++
	return c, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if c.refs--; c.refs == 0 {
			delete(p.companies, id)
		}
	}
}

// Take waits for a place for a company, and returns the function that gives it back. Returns the cause of the context's end, wrapped.
func (p *Places) Take(ctx context.Context, companyID string) (leave func(), err error) {
	c, forget := p.of(companyID)
	select {
	case c.taken <- struct{}{}:
	case <-ctx.Done():
		forget()
		return nil, fmt.Errorf("wait for a place: %w", context.Cause(ctx))
	}
	select {
	case p.all <- struct{}{}:
	case <-ctx.Done():
		<-c.taken
		forget()
		return nil, fmt.Errorf("wait for a place: %w", context.Cause(ctx))
	}
	return p.leave(c, forget), nil
}

// TakeNow takes a place for a company if that needs no wait.
func (p *Places) TakeNow(companyID string) (leave func(), ok bool) {
	c, forget := p.of(companyID)
	select {
	case c.taken <- struct{}{}:
	default:
		forget()
		return nil, false
	}
	select {
	case p.all <- struct{}{}:
	default:
		<-c.taken
		forget()
		return nil, false
	}
	return p.leave(c, forget), true
}

func (p *Places) leave(c *company, forget func()) func() {
	return func() {
		<-p.all
		<-c.taken
		forget()
	}
}
