package rest

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/internal/platform/clock"
)

// Time is a moment as answers show it: RFC 3339 in UTC with milliseconds.
type Time string

// at formats a time.
func at(t time.Time) Time { return Time(t.UTC().Format(clock.Format)) }

// atOrNil formats a time; nil for nil.
func atOrNil(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	return new(at(*t))
}

// Schema describes the format in the OpenAPI document.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Pattern: `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`}
}
