package reportmail

import (
	"time"

	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// NextMonday is when reports are mailed next.
var NextMonday = nextMonday

// WorkSoon is Work with reports that come again at once where their company's place is taken.
func WorkSoon(e *op.Engine) jobs.Option {
	return WorkIn(e, jobs.NewPlaces(atOnce, ofOne, 20*time.Millisecond))
}

// WorkIn is Work with the places of the caller.
func WorkIn(e *op.Engine, places *jobs.Places) jobs.Option {
	return jobs.All(jobs.Work(&mailer{engine: e, places: places}), jobs.NamedQueue(queue, atOnce))
}
