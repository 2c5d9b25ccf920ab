package definition

import (
	"regexp"
	"strconv"
	"time"
)

const maxSpan = 3660 * 24 * time.Hour // ten years

var spanGrammar = regexp.MustCompile(`^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$`)

// ParseSpan reads a length of time: days, hours, minutes and seconds in that order, each at most once ("90s", "5m",
// "2h30m", "3d"), longer than nothing and at most ten years. It reports false for anything else.
func ParseSpan(text string) (Span, bool) {
	parts := spanGrammar.FindStringSubmatch(text)
	if parts == nil {
		return Span{}, false
	}
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.Atoi(parts[i+1])
		if err != nil || time.Duration(n) > maxSpan/unit {
			return Span{}, false
		}
		total += time.Duration(n) * unit
	}
	if total <= 0 || total > maxSpan {
		return Span{}, false
	}
	return Span{Text: text, Duration: total}, true
}

// span reads a length of time; nil if there is none.
func (f fields) span(key string) *Span {
	text := f.str(key, 0)
	if text == "" {
		return nil
	}
	span, ok := ParseSpan(text)
	if !ok {
		f.c.fault(f.at(key), "Must be a length of time such as 90s, 5m, 2h30m or 3d, at most 3660d.")
		return nil
	}
	return &span
}

// minutes returns the length in minutes, counted up to a whole one.
func (s Span) minutes() int { return int((s.Duration + time.Minute - 1) / time.Minute) }
