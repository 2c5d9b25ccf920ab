package jobs

import (
	"fmt"
	"log/slog"
	"net/http"

	"riverqueue.com/riverui"
	"riverqueue.com/riverui/uiendpoints"
)

// UI returns River's own web pages below the path prefix, for a queue that works jobs: waiting, running and failed jobs, which
// can be retried or cancelled by hand. They require no authentication. River's background service, which counts all jobs every
// ten seconds, is not started: jobs are counted when a page is opened.
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
