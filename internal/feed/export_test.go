package feed

import (
	"context"
	"time"

	"entgo.io/ent/dialect"
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
