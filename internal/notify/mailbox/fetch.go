package mailbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/mailbox"
	"atrium/internal/notify/inmail"
	"atrium/internal/notify/inmail/imap"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	fetchQueue    = "inbound_fetch"
	fetchEvery    = time.Minute
	fetchAgain    = 15 * time.Minute // after a failure: a server that is asked for a wrong password each minute locks the account
	notedEvery    = 10 * time.Minute // that all is well
	fetchedAtOnce = 4                // mailboxes of a node
	fetchedOfOne  = 1                // of them of one company: a slow server keeps its place for minutes
	fetchTurn     = 2 * time.Second
	fetchTimeout  = 6 * time.Minute // package imap ends after five
	folder        = "INBOX"
)

// LookArgs is the job that finds the mailboxes whose mail is to be fetched.
type LookArgs struct{}

// Kind names the job.
func (LookArgs) Kind() string { return "inbound_look" }

// FetchArgs is the job that fetches the mail of one mailbox. There is one of them at a time.
type FetchArgs struct {
	Company string `json:"company"`
	Mailbox string `json:"mailbox" river:"unique"`
}

// Kind names the job.
func (FetchArgs) Kind() string { return "inbound_fetch" }

// InsertOpts makes the next minute the retry.
func (FetchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: fetchQueue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: jobs.UniqueStates}}
}

type looker struct {
	river.WorkerDefaults[LookArgs]
	post *Post
}

// Work inserts a job for each mailbox whose mail is to be fetched.
func (w *looker) Work(ctx context.Context, _ *river.Job[LookArgs]) error {
	ctx = principal.System(ctx, "mail is fetched for all companies")
	s := w.post.Depot.Engine.Store
	boxes, err := s.Reader().Mailbox.Query().Where(mailbox.KindEQ(mailbox.KindImap), mailbox.Enabled(true),
		mailbox.Or(mailbox.FaultIsNil(), mailbox.UpdatedAtLT(s.Clock().Now().Add(-fetchAgain))),
	).Select(mailbox.FieldID, mailbox.FieldCompanyID).All(ctx)
	if err != nil || len(boxes) == 0 {
		return err
	}
	list := make([]jobs.Job, len(boxes))
	for i, m := range boxes {
		list[i].Args = FetchArgs{Company: m.CompanyID, Mailbox: m.ID}
	}
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return w.post.Queue.InsertManyTx(ctx, tx, list...) })
}

type fetcher struct {
	river.WorkerDefaults[FetchArgs]
	post *Post
}

// Timeout of one mailbox.
func (*fetcher) Timeout(*river.Job[FetchArgs]) time.Duration { return fetchTimeout }

// Work fetches what has come to a mailbox, and notes why it cannot.
func (w *fetcher) Work(ctx context.Context, job *river.Job[FetchArgs]) error {
	leave, err := w.post.fetches.TakeOrSnooze(job.Args.Company)
	if err != nil {
		return err
	}
	defer leave()
	ctx = principal.With(ctx, principal.Worker(job.Args.Company, worker))
	e := w.post.Depot.Engine
	m, err := e.Store.Reader().Mailbox.Query().Where(mailbox.ID(job.Args.Mailbox), mailbox.Enabled(true)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the mailbox: %w", err)
	}
	more, err := w.fetch(ctx, m)
	if errors.Is(err, errChanged) {
		return river.JobSnooze(0)
	}
	if err != nil {
		w.post.Depot.Log.WarnContext(ctx, "the mail of a mailbox was not fetched", "mailbox", m.ID, "error", err)
	}
	if err := w.note(context.WithoutCancel(ctx), m, err); err != nil {
		return err
	}
	if err == nil && more {
		return river.JobSnooze(0)
	}
	return nil
}

// fetch keeps the messages behind the last one that was kept.
func (w *fetcher) fetch(ctx context.Context, m *ent.Mailbox) (more bool, err error) {
	password, err := openPassword(w.post.Depot.Engine.Sealer, m)
	if err != nil {
		return false, err
	}
	from := imap.Account{Address: *m.Server, User: *m.Username, Password: password, Folder: folder, Dial: w.post.Dial, TLS: w.post.TLS}
	after := imap.Cursor{Validity: uint32(m.FetchedValidity), UID: uint32(m.FetchedUID)}
	return from.Fetch(ctx, after, func(ctx context.Context, mail imap.Mail) error {
		advance := func(ctx context.Context, tx *store.Tx) error { return moved(ctx, tx, m, mail.Cursor) }
		if mail.Raw == nil {
			r := received{mailbox: m, recipient: m.Address, size: mail.Size}
			if mail.Size <= inmail.MaxSize {
				r.refused = "The mail server does not send its content."
			}
			return w.post.keep(ctx, advance, r)
		}
		return w.post.deliver(ctx, m, mail.Raw, advance)
	})
}

// moved keeps up to which message a folder was fetched, in the transaction that keeps the message. Returns errChanged, and nothing is kept,
// once the mailbox has another folder.
func moved(ctx context.Context, tx *store.Tx, m *ent.Mailbox, at imap.Cursor) error {
	n, err := tx.Mailbox.Update().Where(mailbox.ID(m.ID), mailbox.Server(*m.Server), mailbox.Username(*m.Username)).
		SetFetchedValidity(int64(at.Validity)).SetFetchedUID(int64(at.UID)).Save(ctx)
	if err == nil && n == 0 {
		err = errChanged
	}
	return err
}

// errChanged ends the fetching of a folder that is the mailbox's no more.
var errChanged = errors.New("the mailbox fetches from elsewhere now")

// note keeps that a mailbox was fetched, now and then, or why it cannot be.
func (w *fetcher) note(ctx context.Context, m *ent.Mailbox, failure error) error {
	s := w.post.Depot.Engine.Store
	now := s.Clock().Now()
	if failure == nil && m.Fault == nil && m.FetchedAt != nil && now.Sub(*m.FetchedAt) < notedEvery {
		return nil
	}
	return s.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		u := tx.Mailbox.UpdateOneID(m.ID)
		if failure != nil {
			u.SetFault(why(failure))
		} else {
			u.ClearFault().SetFetchedAt(now)
		}
		if err := u.Exec(ctx); err != nil && !ent.IsNotFound(err) {
			return fmt.Errorf("note the fetching: %w", err)
		}
		return nil
	})
}

// why says in a sentence why mail cannot be fetched. Of what the network said it says nothing: that may be about addresses inside.
func why(err error) string {
	switch {
	case errors.Is(err, imap.ErrLogin):
		return "The mail server refuses the username or the password."
	case errors.Is(err, imap.ErrConnect):
		return "The mail server cannot be reached."
	case errors.Is(err, imap.ErrTLS):
		return "The mail server does not speak TLS at this port, or its certificate cannot be verified."
	case apperr.CodeOf(err) == apperr.RateLimited:
		return "The company has taken in as many bytes as its plan allows; the rest follows."
	}
	return "The mail server does not answer as it should."
}
