package testkit

import (
	"strings"

	"atrium/internal/op"
	"atrium/internal/platform/markdown"
)

// Said returns what a mail says, line by line: what happened and what was written, as plain text, event by event, and the page that shows it.
func Said(t op.Told) string {
	var lines []string
	for _, e := range t.Events {
		said := e.Quote
		if e.Markdown {
			said = markdown.Text(markdown.Parse(said))
		}
		lines = append(append(lines, e.Paragraphs...), said)
	}
	return strings.Join(append(lines, t.Page), "\n")
}
