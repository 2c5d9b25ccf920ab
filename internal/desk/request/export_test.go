package request

import (
	"context"
	"time"

	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
)

// SweepOnce runs one sweep over requests that have something due.
func SweepOnce(ctx context.Context, e *op.Engine, now time.Time) (time.Time, error) {
	return (timer.Kind{Name: "requests", Batch: clockBatch, Due: due, Advance: advanceDue}).Sweep(ctx, e, now)
}
