package text

import (
	"strings"
	"unicode/utf8"
)

// Cut shortens s to at most n bytes of valid UTF-8 without NUL, as both databases take it: for columns that callers fill.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Short returns the first characters of a text, so many at most, and shows by "…" that it went on: for messages that repeat
// what a caller chose.
func Short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Camel turns a column's name into the API's: created_by is createdBy.
func Camel(column string) string {
	parts := strings.Split(column, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
