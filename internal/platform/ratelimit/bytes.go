package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// unit is how many bytes a Limiter counts as one call: it keeps a time for each, and would keep millions for the bytes of a minute.
const unit = 64 << 10

// Bytes limits the bytes of the bodies that companies send, by BytesPerMinute and BytesPerDay of their limits. It counts whole units
// with a Limiter, and what makes no unit yet in this process: a company may send up to a unit more than its limit. Safe for concurrent
// use. A body that is larger than what is allowed in a window counts as all of it: it could never come otherwise.
type Bytes struct {
	limiter Limiter

	mu   sync.Mutex
	seed maphash.Seed
	rest [1 << 12]int // bytes that make no unit yet; companies of one hash share a place, which counts a unit of one for another at most
}

// NewBytes returns a Bytes that counts with limiter.
func NewBytes(limiter Limiter) *Bytes { return &Bytes{limiter: limiter, seed: maphash.MakeSeed()} }

// Take asks for n bytes of a company at now. limit is asked for only when a unit is full. The result is in bytes; it is the zero value
// with Allowed when no unit is full. Errors are those of Limiter.Take and of limit.
func (b *Bytes) Take(ctx context.Context, company string, n int, now time.Time, limit func(context.Context) (Limit, error)) (Result, error) {
	units := b.begin(company, n)
	if units == 0 {
		return Result{Allowed: true}, nil
	}
	l, err := limit(ctx)
	var res Result
	if err == nil {
		inUnits := Limit{PerMinute: l.BytesPerMinute / unit, PerDay: l.BytesPerDay / unit}
		res, err = b.limiter.TakeMany(ctx, "bytes/"+company, inUnits, now, max(1, min(units, inUnits.PerMinute, inUnits.PerDay)))
	}
	if err != nil || !res.Allowed {
		b.add(company, units*unit-n) // as it was
	}
	res.Limit, res.inBytes = l, true
	res.MinuteRemaining *= unit
	res.DayRemaining *= unit
	return res, err
}

// begin adds n bytes to a company's place, and takes the units out that are full.
func (b *Bytes) begin(company string, n int) (units int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := b.place(company)
	*place += n
	units = max(0, *place/unit)
	*place -= units * unit
	return units
}

func (b *Bytes) add(company string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.place(company) += n
}

func (b *Bytes) place(company string) *int {
	return &b.rest[maphash.String(b.seed, company)%uint64(len(b.rest))]
}
