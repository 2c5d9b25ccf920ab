package feed

import "time"

// seen remembers what was told for at least as long as it keeps being found: in two generations, of which the older one is
// forgotten once everything that is still found has moved to the younger.
type seen struct {
	young, old map[string]struct{}
	turned     time.Time
}

// fresh reports whether something is found for the first time, and remembers it.
func (s *seen) fresh(key string) bool {
	if _, ok := s.young[key]; ok {
		return false
	}
	_, known := s.old[key]
	if s.young == nil {
		s.young = map[string]struct{}{}
	}
	s.young[key] = struct{}{}
	return !known
}

// swept is called when everything that can still be found has just been.
func (s *seen) swept(now time.Time, every time.Duration) {
	if now.Sub(s.turned) >= every {
		s.young, s.old, s.turned = nil, s.young, now
	}
}

func (s *seen) size() int { return len(s.young) + len(s.old) }
