package requestimport

import (
	"time"

	"atrium/internal/op"
	"atrium/internal/platform/jobs"
)

// WorkSoon is Work with imports that come again at once where their company's place is taken.
func WorkSoon(e *op.Engine) jobs.Option {
	return workIn(e, jobs.NewPlaces(atOnce, ofOne, 20*time.Millisecond))
}
