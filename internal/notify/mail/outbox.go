package mail

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent/account"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

const (
	queueName   = "mail"
	workers     = 4 // concurrent sends of a node
	maxAttempts = 12
)

// SendArgs is the job that sends one mail.
type SendArgs struct {
	ID     string `json:"id"`     // msg_…
	Sealed []byte `json:"sealed"` // the encrypted envelope, bound to the ID
}

// Kind returns the name of the job.
func (SendArgs) Kind() string { return "mail" }

// InsertOpts puts mails into their own queue, apart from jobs that need no other server.
func (SendArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueName, MaxAttempts: maxAttempts}
}

// Outbox accepts mails. Safe for concurrent use.
type Outbox struct {
	queue  *jobs.Queue
	sealer op.Sealer
	shares shares
}

// NewOutbox returns an outbox that puts mails into the queue. The queue may be one that only inserts jobs.
func NewOutbox(queue *jobs.Queue, sealer op.Sealer) *Outbox {
	return &Outbox{queue: queue, sealer: sealer}
}

// Queue returns the outbox's queue.
func (o *Outbox) Queue() *jobs.Queue { return o.queue }

// Enqueue sends the mail once the transaction commits, and only then. Returns an error for a recipient that is not a bare
// address, and for an invalid subject or body. Pass texts of other people through Line first.
func (o *Outbox) Enqueue(ctx context.Context, tx *store.Tx, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	args, now := SendArgs{ID: id.New("msg")}, clock.From(ctx).Now()
	plain, err := json.Marshal(envelope{Message: m, At: now})
	if err != nil {
		return fmt.Errorf("write the mail: %w", err)
	}
	if args.Sealed, err = o.sealer.Seal(plain, []byte(args.ID)); err != nil {
		return fmt.Errorf("seal the mail: %w", err)
	}
	return o.queue.InsertManyTx(ctx, tx, jobs.Job{Args: args, Priority: o.shares.priority(cmp.Or(companyOf(ctx), m.Of), now)})
}

// Work makes a queue send mails with the sender. It drops those to users and accounts that have been erased meanwhile.
func Work(s *store.Store, sender Sender, sealer op.Sealer) jobs.Option {
	return jobs.All(jobs.Work(&worker{store: s, sender: sender, sealer: sealer}), jobs.NamedQueue(queueName, workers))
}

// worker sends the mails of the queue.
type worker struct {
	river.WorkerDefaults[SendArgs]
	store  *store.Store
	sender Sender
	sealer op.Sealer
}

// Timeout is longer than the timeout of the sender.
func (*worker) Timeout(*river.Job[SendArgs]) time.Duration { return sendTimeout + 10*time.Second }

// Work sends one mail. Its errors, which are kept with the job, contain nothing of the message, not even the recipient's address.
func (w *worker) Work(ctx context.Context, job *river.Job[SendArgs]) error {
	plain, err := w.sealer.Unseal(job.Args.Sealed, []byte(job.Args.ID))
	if err != nil {
		return fmt.Errorf("unseal the mail (is this the master key it was sealed under?): %w", err)
	}
	e := envelope{ID: job.Args.ID}
	if err := json.Unmarshal(plain, &e); err != nil {
		return river.JobCancel(errors.New("the mail cannot be read"))
	}
	if erased, err := w.erased(ctx, e.Of); err != nil || erased {
		return err
	}
	err = w.sender.send(ctx, &e)
	if errors.Is(err, errNobody) {
		if failed := w.bounced(ctx, &e); failed != nil {
			return failed
		}
	}
	if errors.Is(err, errRefused) {
		return river.JobCancel(err)
	}
	return err
}

// bounced marks whoever has the address of a mail that it leads to nobody, as the report of a mail that came back does. Who has another
// address by now is left alone.
func (w *worker) bounced(ctx context.Context, e *envelope) error {
	err := w.store.Write(everywhere(ctx), func(ctx context.Context, tx *store.Tx) error {
		return tx.User.Update().Where(user.Or(user.ID(e.Of), user.AccountID(e.Of)), user.Email(e.To)).SetMailState(user.MailStateBOUNCED).Exec(ctx)
	})
	if err != nil {
		return fmt.Errorf("note that the address takes no mail: %w", err)
	}
	return nil
}

// everywhere returns the context of what is read and noted of a mail's reader.
func everywhere(ctx context.Context) context.Context {
	return principal.System(ctx, "a mail may be to an account, which belongs to no company")
}

// erased reports whether the user was erased, or the account has gone with its last user.
func (w *worker) erased(ctx context.Context, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	ctx = everywhere(ctx)
	here, err := w.store.Reader().User.Query().Where(user.ID(id), user.StatusNEQ(user.StatusErased)).Exist(ctx)
	if err == nil && !here {
		here, err = w.store.Reader().Account.Query().Where(account.ID(id)).Exist(ctx)
	}
	if err != nil {
		return false, fmt.Errorf("look for the recipient: %w", err)
	}
	return !here, nil
}
