package jobs

import "github.com/riverqueue/river"

// The queue of jobs that tell people is their own: they ask a company's policies about each person, and wait for the company's turn of
// costly work to do so. Few workers of a company may wait so. Every node that works jobs works it.
const (
	noticeQueue = "notices"
	tellers     = 8
	companyTell = 2 // of these
)

// ToTell are the options of a job that tells people. later says that their mails are gathered: all others go before it, because one change
// may cause very many.
func ToTell(later bool) river.InsertOpts {
	o := river.InsertOpts{Queue: noticeQueue, Priority: 2}
	if later {
		o.Priority = 3
	}
	return o
}
