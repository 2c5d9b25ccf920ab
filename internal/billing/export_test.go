package billing

import "time"

// PeriodAt is what the worked examples compute.
var PeriodAt = periodAt

// Prorate is what the worked examples compute.
func (p Period) Prorate(cents int64, at time.Time) int64 { return p.prorate(cents, at) }
