package mail

import (
	"context"
	"sync"
	"time"

	"atrium/internal/platform/principal"
)

// perMinute is how many mails of one company a node puts into the queue in a minute before those of others. What is beyond waits until
// no other mail does, so that ten thousand mails of one company hold up the next invitation of another by a hundred at most.
const perMinute = 100

// afterAll is the priority of a job that waits for all others: River's last.
const afterAll = 4

// shares count the mails of each company in the present minute. An account's own mails, such as links to sign in with, belong to no
// company and are counted for the account.
type shares struct {
	mu     sync.Mutex
	minute time.Time
	of     map[string]int
}

// priority counts a mail, and returns its job's priority: 0, which is the usual one, within the share. A mail of nobody has no share.
func (s *shares) priority(whose string, now time.Time) int {
	if whose == "" {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(s.minute) {
		s.minute, s.of = minute, map[string]int{}
	}
	s.of[whose]++
	if s.of[whose] > perMinute {
		return afterAll
	}
	return 0
}

// companyOf returns the company in which a mail is written; empty for the system's.
func companyOf(ctx context.Context) string {
	p, ok := principal.From(ctx)
	if !ok {
		return ""
	}
	return p.CompanyID
}
