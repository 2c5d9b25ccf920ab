package jobs

import (
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"

	"atrium/internal/platform/share"
)

// Places are the places of a node for jobs of one kind, which companies share.
type Places struct {
	*share.Places
	again time.Duration
}

// NewPlaces returns places: all of them, and how many of them a company takes at a time. A job that finds none comes again after `again`
// to twice that.
func NewPlaces(all, each int, again time.Duration) *Places {
	return &Places{share.New(all, each), again}
}

// TakeOrSnooze takes a place for a job of a company. Where that needs a wait, it returns the error by which the job's worker snoozes.
func (p *Places) TakeOrSnooze(companyID string) (leave func(), err error) {
	leave, ok := p.TakeNow(companyID)
	if !ok {
		return nil, river.JobSnooze(p.again + rand.N(p.again))
	}
	return leave, nil
}
