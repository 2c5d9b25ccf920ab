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

// Difference is what the worked examples compute.
func (p Period) Difference(from, to string, at time.Time) (charge, credit int64) {
	return p.difference(planOf(from), planOf(to), at)
}

// Bill makes an invoice of so many cents.
func Bill(ctx context.Context, tx *op.Tx, cents int64) error {
	a, err := open(ctx, tx)
	if err != nil {
		return err
	}
	if _, err := a.bill(ctx, Period{a.now, a.now.Add(time.Hour)}, Line{Description: "x", Amount: cents}); err != nil {
		return err
	}
	return a.save(ctx)
}

// RunJob does once what the job does.
func RunJob(ctx context.Context, e *op.Engine, p Provider) error {
	return (&renewer{engine: e, provider: p}).Work(ctx, nil)
}
