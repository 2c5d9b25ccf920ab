package billing

import (
	"context"
	"time"

	"atrium/internal/op"
)

// PeriodAt is what the worked examples compute.
var PeriodAt = periodAt

// Dunning are the waits after failed charges.
var Dunning = dunning

// ChargeAgainAfter is when a payment that is pending is looked at again.
const ChargeAgainAfter = chargeAgainAfter

// Prorate is what the worked examples compute.
func (p Period) Prorate(cents int64, at time.Time) int64 { return p.prorate(cents, at) }

// RunJob does once what the job does.
func RunJob(ctx context.Context, e *op.Engine, p Provider) error {
	return (&renewer{engine: e, provider: p}).Work(ctx, nil)
}
