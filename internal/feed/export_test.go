package feed

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/internal/principal"
	"atrium/internal/store"
)

// Pace is the pace of a feed, for tests.
type Pace struct {
	Every, Window, Away             time.Duration
	Page, Pages, Remembered, Buffer int
}

// Configure changes what is not zero. Call it before anybody subscribes.
func (f *Feed) Configure(p Pace) {
	set := func(to *time.Duration, v time.Duration) {
		if v != 0 {
			*to = v
		}
	}
	count := func(to *int, v int) {
		if v != 0 {
			*to = v
		}
	}
	set(&f.pace.every, p.Every)
	set(&f.pace.window, p.Window)
	set(&f.pace.away, p.Away)
	count(&f.pace.page, p.Page)
	count(&f.pace.pages, p.Pages)
	count(&f.pace.remembered, p.Remembered)
	count(&f.pace.buffer, p.Buffer)
}

// Intercept calls before ahead of every statement for changes of a kind, which fails with its error. Call it before
// anybody subscribes.
func (f *Feed) Intercept(k Kind, before func() error) {
	s := *f.pollers[k].source
	read := s.read
	s.read = func(ctx context.Context, db dialect.Driver, after place, companies []string, limit int) ([]found, error) {
		if err := before(); err != nil {
			return nil, err
		}
		return read(ctx, db, after, companies, limit)
	}
	f.pollers[k].source = &s
}

// Statement returns what a kind is read by, for companies, after a moment.
func Statement(k Kind, dialect string, after time.Time, companies []string) (query string, args []any) {
	d := &noting{name: dialect}
	_, _ = sources[k].read(context.Background(), d, place{at: after}, companies, usual.page) // it answers nothing
	return d.query, d.args
}

// noting is a driver that notes what it is asked.
type noting struct {
	dialect.Driver
	name, query string
	args        []any
}

func (n *noting) Dialect() string { return n.name }

func (n *noting) Query(_ context.Context, query string, args, _ any) error {
	n.query = query
	n.args, _ = args.([]any)
	return errors.New("only noted")
}

// Read reads a page of what changed after a moment, as a look does, and returns how many rows that were.
func Read(s *store.Store, k Kind, after time.Time, companies []string) (int, error) {
	ctx := principal.System(context.Background(), "test")
	list, err := sources[k].read(ctx, ent.DriverOf(s.Reader()), place{at: after}, companies, usual.page)
	return len(list), err
}
