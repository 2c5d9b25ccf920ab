package request

import (
	"context"
	"time"

	"atrium/internal/op"
)

// SweepOnce runs one sweep over requests that have something due.
func SweepOnce(ctx context.Context, e *op.Engine, now time.Time) (time.Time, error) {
	return (&sweeper{engine: e}).requests(ctx, now)
}
