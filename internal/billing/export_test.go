package billing

import (
	"context"
	"time"

	"atrium/internal/op"
)

// PeriodAt exports periodAt for the worked examples.
var PeriodAt = periodAt

// Dunning exports the waits after failed charges.
var Dunning = dunning

// ChargeAgainAfter exports the delay until a pending payment is checked again.
const ChargeAgainAfter = chargeAgainAfter

// Prorate exports prorate for the worked examples.
func (p Period) Prorate(cents int64, at time.Time) int64 { return p.prorate(cents, at) }

// Difference exports difference for the worked examples.
func (p Period) Difference(from, to string, at time.Time) (charge, credit int64) {
	return p.difference(planOf(from), planOf(to), at)
}

// Bill makes an invoice of the given amount.
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

// RunJob runs the job once.
func RunJob(ctx context.Context, e *op.Engine, p Provider) error {
	return (&renewer{engine: e, provider: p}).Work(ctx, nil)
}
