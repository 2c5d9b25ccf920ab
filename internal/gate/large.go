package gate

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/share"
)

// Reading, checking and storing a body of a mebibyte takes tens of milliseconds of a processor, wherever it comes in. So a company has
// its large bodies worked on half of the processors at most, and the others wait their turn.
const (
	largeBody     = 32 << 10 // bytes from which a body is large
	largePatience = 5 * time.Second
)

// largePlaces are those of large bodies. They are the process's and not a gate's, so that two gates, as tests have, do not take all
// processors.
var largePlaces = share.New(runtime.GOMAXPROCS(0), max(1, runtime.GOMAXPROCS(0)/2))

// TakePlace waits until a company may have a body of n bytes worked, and returns the function that ends this; it may be called more than
// once. A place is held for MaxCall at most, because a stream begins with a body, too. Returns unavailable for a caller whose turn does
// not come within 5 s.
func TakePlace(ctx context.Context, company string, n int) (leave func(), err error) {
	if n < largeBody {
		return func() {}, nil
	}
	waiting, stop := context.WithTimeout(ctx, largePatience)
	defer stop()
	left, err := largePlaces.Take(waiting, company)
	if err != nil {
		return nil, apperr.Busy(err)
	}
	once := sync.OnceFunc(left)
	late := time.AfterFunc(MaxCall, once)
	return func() { late.Stop(); once() }, nil
}

// TakeCostly waits until a call's company may do what costs much, behind a Guard, in the places of large bodies. The place is given back
// when the call is over. Returns unavailable for a caller whose turn does not come within 5 s.
func TakeCostly(ctx context.Context) (err error) {
	a, ok := ctx.Value(admittedKey{}).(*admitted)
	if !ok {
		return errors.New("gate: a call that did not come through the guard has no company")
	}
	leave(ctx) // its body's, which it must not wait for
	a.leave, err = TakePlace(ctx, a.cred.Principal.CompanyID, largeBody)
	return err
}

// leave gives back the place of a call that is over.
func leave(ctx context.Context) {
	if a, ok := ctx.Value(admittedKey{}).(*admitted); ok && a.leave != nil {
		a.leave()
	}
}
