package testkit

import (
	"strings"

	"atrium/internal/op"
)

// Said returns what a mail says, line by line: what happened and what was written, event by event, and the page that shows it.
func Said(t op.Told) string {
	var lines []string
	for _, e := range t.Events {
		lines = append(append(lines, e.Paragraphs...), e.Quote)
	}
	return strings.Join(append(lines, t.Page), "\n")
}
