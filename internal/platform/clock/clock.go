package clock

import (
	"context"
	"sync/atomic"
	"time"
)

// Format is the format of times in the API, event payloads and exports: RFC 3339 in UTC with milliseconds.
const Format = "2006-01-02T15:04:05.000Z"

// LastYear is the last year that Format and JSON can write.
const LastYear = 9999

// Clock returns the product's time. The zero value has no offset from the machine's clock. Safe for concurrent use.
type Clock struct {
	offset atomic.Int64 // nanoseconds
}

// Now returns the product's time in UTC, truncated to milliseconds.
func (c *Clock) Now() time.Time {
	return time.Now().Add(c.Offset()).UTC().Truncate(time.Millisecond)
}

// Offset returns how far the product's time is ahead of the machine's; 0 for a nil clock.
func (c *Clock) Offset() time.Duration {
	if c == nil {
		return 0
	}
	return time.Duration(c.offset.Load())
}

// SetOffset sets how far the product's time is ahead of the machine's.
func (c *Clock) SetOffset(d time.Duration) { c.offset.Store(int64(d)) }

type key struct{}

// With returns a context that carries c. Code below the APIs reads the time from it.
func With(ctx context.Context, c *Clock) context.Context { return context.WithValue(ctx, key{}, c) }

// From returns the context's clock, or nil without one. A nil clock has no offset from the machine's.
func From(ctx context.Context) *Clock {
	c, _ := ctx.Value(key{}).(*Clock)
	return c
}
