package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut truncates s to at most n bytes of Plain text. It is for columns that hold what callers send.
func Cut(s string, n int) string {
	s = Plain(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Short returns s in at most most characters, the last of which is "…" when it cuts.
func Short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// Cell returns s as a cell of a table for spreadsheets: an apostrophe keeps what would be a formula a text.
func Cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// OrNil returns nil for an empty text.
func OrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Blank reports whether a text shows nothing: it is empty, or only white space and format characters of Unicode, such as a
// no-break space, an ideographic space or a byte-order mark.
func Blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.In(r, unicode.White_Space, unicode.Cf) }) < 0
}

// Camel returns the API's name of a column: created_by becomes createdBy.
func Camel(column string) string {
	parts := strings.Split(column, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
