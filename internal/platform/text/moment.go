package text

import (
	"strings"
	"time"
)

// Moment reads a date-time of RFC 3339, in UTC: T and Z may be small letters, and the second 60 is the leap second at the end of a
// month, which is the next second here. Unlike time.Parse it refuses what the RFC does not have: one-digit hours, decimal commas,
// offsets of 24 hours or 60 minutes. False for any other text.
func Moment(s string) (time.Time, bool) {
	const day, minute, second, least = len("2006-01-02"), len("2006-01-02T15"), len("2006-01-02T15:04:"), len("2006-01-02T15:04:05Z")
	if len(s) < least || s[minute] != ':' || strings.Contains(s, ",") {
		return time.Time{}, false
	}
	leap := s[second:second+2] == "60"
	b := []byte(s)
	if b[day] == 't' {
		b[day] = 'T'
	}
	if leap {
		copy(b[second:], "59")
	}
	switch last := len(b) - 1; {
	case b[last] == 'z':
		b[last] = 'Z'
	case b[last] != 'Z' && (s[last-4:last-2] == "24" || s[last-1:] == "60"):
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, string(b))
	if t = t.UTC(); err != nil || !leap {
		return t, err == nil
	}
	t = t.Add(time.Second)
	return t, t.Day() == 1 && t.Hour() == 0 && t.Minute() == 0
}
