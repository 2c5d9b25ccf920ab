package form

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"atrium/internal/platform/apperr"
	"atrium/internal/platform/text"
)

// maxRows limits the number of details, so that a hostile body cannot make an answer many times its own size.
const maxRows = 1_000

// details collects details in the order in which the faults are found.
type details struct{ list []apperr.Detail }

func (r *details) add(field, format string, args ...any) {
	if len(r.list) < maxRows {
		r.list = append(r.list, apperr.Detail{Field: field, Message: fmt.Sprintf(format, args...)})
	}
}

// shortKey shortens a key that the caller chose to MaxKeyLength characters, for the field name of a detail.
func shortKey(key string) string {
	return text.Short(text.Plain(key), MaxKeyLength)
}

// badText reports whether s cannot be stored as text in every database: PostgreSQL refuses NUL and invalid UTF-8.
func badText(s string) bool {
	return strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)
}
