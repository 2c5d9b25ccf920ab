package reportmail

import (
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/share"
)

// NextMonday is when reports are mailed next.
var NextMonday = nextMonday

// WorkIn is Work with the places of the caller.
func WorkIn(e *op.Engine, places *share.Places) jobs.Option {
	return jobs.All(jobs.Work(&mailer{engine: e, places: places}), jobs.NamedQueue(queue, atOnce))
}
