package search

import (
	"context"
	"runtime"
	"time"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/share"
)

// searching are the places of searches: a company with long texts leaves half of the processors to others.
var searching = share.New(max(2, runtime.GOMAXPROCS(0)), max(1, runtime.GOMAXPROCS(0)/2))

const maxTurn = 5 * time.Second

// turn waits for a place for a search of the caller's company. Returns unavailable when none is free within maxTurn.
func turn(ctx context.Context, tx *op.Tx) (leave func(), err error) {
	waiting, stop := context.WithTimeout(ctx, maxTurn)
	defer stop()
	if leave, err = searching.Take(waiting, tx.Principal().CompanyID); err != nil {
		return nil, apperr.Busy(err)
	}
	return leave, nil
}
