package notice

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/notification"
	"atrium/ent/predicate"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	digestEvery = 5 * time.Minute
	digestBatch = 500 // notifications per query
	digestLines = 100 // notifications that one mail lists

	queue   = "digests"
	atOnce  = 4               // companies whose mails a node writes
	ofOne   = 1               // runs of one company: its policies may be slow, and it has mails for all of its people at seven
	nextTry = 2 * time.Second // after which a run comes again whose company's place is taken
)

// Digest is the kind of the digest mails.
const Digest = "digest"

// DigestArgs is the job that finds the companies of which mails are due.
type DigestArgs struct{}

// Kind returns the name of the job.
func (DigestArgs) Kind() string { return "notice_digest" }

// InsertOpts has no run retried, because the next one is the retry.
func (DigestArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 1} }

// MailsArgs is the job that mails what is due in one company: all digests, and what waits of requests. There is one at a time for each
// second.
type MailsArgs struct {
	Company string `json:"company" river:"unique"`
	Second  int64  `json:"second,omitempty" river:"unique"` // in which mails are due that wait, in Unix time; zero for what DigestArgs inserts
}

// Kind returns the name of the job.
func (MailsArgs) Kind() string { return "digest_mails" }

// InsertOpts has no run retried, because the next DigestArgs is the retry. The queue is its own, so that a company for which policies are
// slow holds up no other jobs.
func (MailsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.UniqueStates}}
}

// Work adds the jobs of this package to a queue: notices of assignments, digests, and the deletion of old notifications.
func Work(e *op.Engine, reads Reads) jobs.Option {
	return workIn(e, reads, jobs.NewPlaces(atOnce, ofOne, nextTry))
}

func workIn(e *op.Engine, reads Reads, places *jobs.Places) jobs.Option {
	return jobs.All(jobs.Work(&assigned{engine: e, reads: reads}), jobs.Work(&progress{engine: e, reads: reads}), jobs.Work(&quarantined{engine: e, reads: reads}),
		jobs.Work(&finder{engine: e}), jobs.Every(digestEvery, DigestArgs{}),
		jobs.Work(&digester{engine: e, reads: reads, places: places}), jobs.NamedQueue(queue, atOnce), jobs.Sweeps(sweep))
}

// finder works DigestArgs.
type finder struct {
	river.WorkerDefaults[DigestArgs]
	engine *op.Engine
}

// Work inserts a job for each company of which mails are due.
func (f *finder) Work(ctx context.Context, _ *river.Job[DigestArgs]) error {
	s, system := f.engine.Store, principal.System(ctx, "digests of all companies come due")
	due, err := s.Reader().Notification.Query().Where(notification.DigestAtLTE(s.Clock().Now())).Unique(true).Select(notification.FieldCompanyID).Strings(system)
	if err != nil {
		return fmt.Errorf("look for companies of which digests are due: %w", err)
	}
	if len(due) == 0 {
		return nil
	}
	return s.Write(system, func(ctx context.Context, tx *store.Tx) error {
		for _, id := range due {
			if err := f.engine.Queue.InsertTx(ctx, tx, MailsArgs{Company: id}, time.Time{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// digester works MailsArgs.
type digester struct {
	river.WorkerDefaults[MailsArgs]
	engine *op.Engine
	reads  Reads
	places *jobs.Places
}

// Timeout is longer than River's default: all digests of a day are due at the same time.
func (*digester) Timeout(*river.Job[MailsArgs]) time.Duration { return 10 * time.Minute }

// Work mails what is due in a company.
func (d *digester) Work(ctx context.Context, job *river.Job[MailsArgs]) error {
	leave, err := d.places.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	return d.mails(ctx, job.Args.Company)
}

// mails mails one digest to each person, and one mail about each request of which mails wait (group.go). The transaction that enqueues a
// mail also takes its notifications out of what is due.
func (d *digester) mails(ctx context.Context, companyID string) error {
	now := d.engine.Store.Clock().Now()
	reads := outside(ctx, d.engine, companyID)
	done := map[string]bool{}
	return jobs.DueEach(ctx, digestBatch, func(last *ent.Notification) ([]*ent.Notification, error) {
		q := d.engine.Store.Reader().Notification.Query().Where(notification.DigestAtLTE(now))
		if last != nil {
			q.Where(jobs.After[predicate.Notification](notification.FieldDigestAt, *last.DigestAt, last.ID))
		}
		due, err := q.Order(notification.ByDigestAt(), notification.ByID()).Limit(digestBatch).All(reads)
		if err != nil {
			return nil, fmt.Errorf("look for digests that are due: %w", err)
		}
		return due, nil
	}, func(n *ent.Notification) error {
		key, give := n.UserID, d.digest
		if n.Held != nil {
			key, give = key+" "+op.Or(n.RequestID, ""), d.grouped
		}
		if done[key] {
			return nil
		}
		done[key] = true
		if err := give(ctx, n, now); err != nil {
			return fmt.Errorf("mail %s what is due: %w", n.UserID, err)
		}
		return nil
	})
}

// digest mails the digest of a notification's reader.
func (d *digester) digest(ctx context.Context, n *ent.Notification, now time.Time) error {
	visible, err := d.visible(ctx, n.CompanyID, n.UserID, now)
	if err != nil {
		return err
	}
	return d.engine.Work(ctx, n.CompanyID, worker, func(ctx context.Context, tx *op.Tx) error { return digest(ctx, tx, n.UserID, now, visible) })
}

// dueFor selects a person's unread notifications that are due.
func dueFor(q *ent.NotificationQuery, userID string, now time.Time) *ent.NotificationQuery {
	return q.Where(notification.UserID(userID), notification.DigestAtLTE(now), notification.ReadAtIsNil()).Order(notification.ByID())
}

// visible returns the ids of the notifications that are due for a person and not about a request that policies hide from the person
// by now: as many as a digest lists, and one more.
func (d *digester) visible(ctx context.Context, companyID, userID string, now time.Time) (ids []string, err error) {
	ctx = outside(ctx, d.engine, companyID)
	u, err := d.engine.Store.Reader().User.Get(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	for after := ""; ; {
		list, err := dueFor(d.engine.Store.Reader().Notification.Query(), userID, now).Where(notification.IDGT(after), notification.HeldIsNil()).
			Limit(digestLines + 1).WithRequest().All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read what is due: %w", err)
		}
		for _, n := range list {
			after = n.ID
			readers := []*ent.User{u}
			if r := n.Edges.Request; r != nil {
				if readers, err = ReadersOutside(ctx, d.engine, companyID, worker, readers, d.reads.Request, r, true); err != nil {
					return nil, err
				}
			}
			if len(readers) > 0 {
				ids = append(ids, n.ID)
			}
			if len(ids) > digestLines {
				return ids, nil
			}
		}
		if len(list) <= digestLines {
			return ids, nil
		}
	}
}

// digest mails a person those of the notifications that are due still. A deactivated user gets none; whoever came by mail alone is invited
// still.
func digest(ctx context.Context, tx *op.Tx, userID string, now time.Time, visible []string) error {
	mine := []*ent.Notification{}
	// Two runs of the job may overlap: the second waits here, and finds nothing left.
	u, err := op.Lock(tx, tx.User.Query().Where(user.ID(userID), access.Here())).Only(ctx)
	if err == nil {
		mine, err = dueFor(tx.Notification.Query().Where(notification.IDIn(visible...), notification.HeldIsNil()), userID, now).All(ctx)
	}
	if ent.MaskNotFound(err) != nil {
		return fmt.Errorf("read what is due: %w", err)
	}
	if _, err := tx.Notification.Update().Where(notification.UserID(userID), notification.DigestAtLTE(now), notification.HeldIsNil()).ClearDigestAt().Save(ctx); err != nil {
		return fmt.Errorf("take it out of the next digest: %w", err)
	}
	if len(mine) == 0 || u.MailState == user.MailStateBOUNCED {
		return nil
	}
	lines := make([]string, 0, len(mine))
	for _, n := range mine[:min(len(mine), digestLines)] {
		lines = append(lines, "- "+n.Subject)
	}
	c, err := tx.Company.Get(ctx, u.CompanyID)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	p := op.ReaderOf(u, c)
	subject, page := p.T(locale.Count(len(mine), "%d notification", "%d notifications", len(mine))), pageOf(nil, nil)
	switch {
	case len(mine) == 1:
		subject, page = mine[0].Subject, pageOf(mine[0].RequestID, mine[0].ExecutionID)
	case len(mine) > digestLines:
		subject = p.T(locale.Say("More than %d notifications", digestLines))
		lines = append(lines, "- "+p.T(locale.Say("and more")))
	}
	told := op.Told{
		Language: p.Language, Kind: kindOf(u, mine), Subject: subject, Page: page,
		Events: []op.Happening{{Paragraphs: []string{p.T(locale.Say("What waits for you:")), strings.Join(lines, "\n")}}},
	}
	return tx.Mail(func(m op.Mailer, db *store.Tx) error { return m.Tell(ctx, db, u, told) })
}

// kindOf returns the kind of a mail that lists notifications, which its link switches off: Digest, unless all are of kinds that are
// mailed at once and were only gathered (Note.MailAt, group.go). Then it is that of the last, as a rule "breached".
func kindOf(u *ent.User, list []*ent.Notification) string {
	kind := Digest
	for _, n := range list {
		if channelOf(u, string(n.Kind)) != channelNow {
			return Digest
		}
		kind = string(n.Kind)
	}
	return kind
}
