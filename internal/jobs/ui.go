package jobs

import (
	"fmt"
	"log/slog"
	"net/http"

	"riverqueue.com/riverui"
	"riverqueue.com/riverui/uiendpoints"
)

// UI returns River's own pages of a queue that works jobs, below the path prefix: what waits, runs and failed, tried again or
// cancelled by hand. They ask nobody who is there. Its background service, which counts all jobs every ten seconds, is not started:
// they are counted when somebody looks.
func (q *Queue) UI(prefix string, log *slog.Logger) (http.Handler, error) {
	var endpoints uiendpoints.Bundle
	if q.pg != nil {
		endpoints = riverui.NewEndpoints(q.pg, nil)
	} else {
		endpoints = riverui.NewEndpoints(q.lite, nil)
	}
	pages, err := riverui.NewHandler(&riverui.HandlerOpts{Endpoints: endpoints, Prefix: prefix, Logger: log, JobListHideArgsByDefault: true})
	if err != nil {
		return nil, fmt.Errorf("build River's pages: %w", err)
	}
	return pages, nil
}
