package request

import (
	"context"
	"time"

	"atrium/internal/op"
)

// SweepOnce looks for requests whose moment has come, once.
func SweepOnce(ctx context.Context, e *op.Engine, now time.Time) (time.Time, error) {
	return (&sweeper{engine: e}).requests(ctx, now)
}
