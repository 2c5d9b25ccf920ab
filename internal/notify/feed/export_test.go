package feed

import (
	"context"
	"errors"
	"time"

	"entgo.io/ent/dialect"

	"atrium/ent"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Pace is the part of a feed's pace that tests change.
type Pace struct {
	Every, Window, Away             time.Duration
	Page, Pages, Remembered, Buffer int
}

// Configure sets the fields that are not zero. Call it before the first subscription.
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

// Intercept calls before ahead of every statement that reads changes of a kind. If before fails, the statement fails with its
// error. Call it before the first subscription.
func (f *Feed) Intercept(k Kind, before func() error) {
	s := *f.pollers[k].source
	read := s.read
	s.read = func(ctx context.Context, db dialect.Driver, after position, companies []string, limit int) ([]found, error) {
		if err := before(); err != nil {
			return nil, err
		}
		return read(ctx, db, after, companies, limit)
	}
	f.pollers[k].source = &s
}

// Statement returns the statement that reads the changes of a kind in companies after a time.
func Statement(k Kind, dialect string, after time.Time, companies []string) (query string, args []any) {
	d := &noting{name: dialect}
	_, _ = sources[k].read(context.Background(), d, position{at: after}, companies, usual.page) // the driver returns no rows
	return d.query, d.args
}

// noting is a driver that records its statement.
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

// Read reads one page of the changes after a time, as a look does, and returns the number of rows.
func Read(s *store.Store, k Kind, after time.Time, companies []string) (int, error) {
	ctx := principal.System(context.Background(), "test")
	list, err := sources[k].read(ctx, ent.DriverOf(s.Reader()), position{at: after}, companies, usual.page)
	return len(list), err
}
