package feed

import "time"

// seen remembers reported changes at least as long as looks can find them. It has two generations: a change that is found again
// moves to the younger one, and the older one is dropped once all changes that can still be found have moved.
type seen struct {
	young, old map[string]struct{}
	turned     time.Time
}

// fresh reports whether a change is found for the first time, and remembers it.
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

// swept is called after a sweep, which finds everything that can still be found. It starts a new generation once per every.
func (s *seen) swept(now time.Time, every time.Duration) {
	if now.Sub(s.turned) >= every {
		s.young, s.old, s.turned = nil, s.young, now
	}
}

func (s *seen) size() int { return len(s.young) + len(s.old) }
