package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/mailedlink"
	"atrium/ent/predicate"
	"atrium/ent/user"
	"atrium/internal/clock"
	"atrium/internal/id"
	"atrium/internal/jobs"
	"atrium/internal/people"
	"atrium/internal/store"
)

// What anonymous callers ask for.
const (
	askReset  = "reset"
	askSignUp = "sign_up"
)

// ask is an anonymous request. Whether anything is mailed, and what, is found out by a job: the answer to the request is
// there before, and can tell nothing.
type ask struct {
	Kind    string `json:"kind"`
	Email   string `json:"email"`
	Company string `json:"company,omitempty"` // the name of the one to be opened
	Enough  bool   `json:"enough,omitempty"`  // the address was mailed often: only what it has no living link for
}

// askedArgs is the job. Its request is sealed, being about people who may not be ours.
type askedArgs struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
}

// Kind names the job.
func (askedArgs) Kind() string { return "account_asked" }

// InsertOpts give up within the life of a link.
func (askedArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 6} }

// ask queues a request in the transaction.
func (l *Letters) ask(ctx context.Context, tx *store.Tx, a ask) error {
	args := askedArgs{ID: id.New("ask")}
	plain, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	if args.Sealed, err = l.sealer.Seal(plain, []byte(args.ID)); err != nil {
		return fmt.Errorf("seal the request: %w", err)
	}
	return l.outbox.Queue().InsertTx(ctx, tx, args, time.Time{})
}

// Work makes a queue answer anonymous requests.
func Work(l *Letters) jobs.Option { return jobs.Work(&asked{letters: l}) }

type asked struct {
	river.WorkerDefaults[askedArgs]
	letters *Letters
}

// Work mails what the request is about, if anything.
func (w *asked) Work(ctx context.Context, job *river.Job[askedArgs]) error {
	l := w.letters
	plain, err := l.sealer.Unseal(job.Args.Sealed, []byte(job.Args.ID))
	if err != nil {
		return fmt.Errorf("unseal a request (is this the master key it was sealed under?): %w", err)
	}
	var a ask
	if err := json.Unmarshal(plain, &a); err != nil {
		return river.JobCancel(errors.New("a request cannot be read"))
	}
	err = l.store.Write(system(ctx, l.store), func(ctx context.Context, tx *store.Tx) error {
		if a.Kind == askSignUp {
			return l.answerSignUp(ctx, tx, a)
		}
		return l.answerReset(ctx, tx, a)
	})
	if err != nil {
		return fmt.Errorf("answer a request for a mail: %w", err)
	}
	return nil
}

// answerReset mails a link to set a password by; the invitation again to somebody who has not set one yet, and nothing
// to an address that is no account's.
func (l *Letters) answerReset(ctx context.Context, tx *store.Tx, a ask) error {
	acc, err := tx.Account.Query().Where(account.Email(a.Email)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look the account up: %w", err)
	}
	proven, err := people.Proven(ctx, tx.Client, acc)
	if err != nil {
		return err
	}
	if !proven {
		u, err := tx.User.Query().Where(user.AccountID(acc.ID), user.StatusEQ(user.StatusInvited)).Order(ent.Desc(user.FieldCreatedAt)).First(ctx)
		if err == nil {
			if alive, err := l.alive(ctx, tx, a, mailedlink.UserID(u.ID), mailedlink.KindEQ(mailedlink.KindInvitation)); err != nil || alive {
				return err
			}
			return l.invite(ctx, tx, u, nil)
		}
		if !ent.IsNotFound(err) {
			return fmt.Errorf("look for an invitation: %w", err)
		}
	}
	if alive, err := l.alive(ctx, tx, a, mailedlink.AccountID(acc.ID), mailedlink.KindEQ(mailedlink.KindPasswordReset)); err != nil || alive {
		return err
	}
	return l.reset(ctx, tx, acc)
}

// stillLong is how long a link must work at least for somebody who asks for one to need no other.
const stillLong = 20 * time.Minute

// alive reports whether an address that was mailed enough has a link that works for a while. Whoever asks has one that works,
// however many others have asked for in its name.
func (l *Letters) alive(ctx context.Context, tx *store.Tx, a ask, which ...predicate.MailedLink) (bool, error) {
	if !a.Enough {
		return false, nil
	}
	which = append(which, mailedlink.UsedAtIsNil(), mailedlink.ExpiresAtGT(clock.From(ctx).Now().Add(stillLong)))
	alive, err := tx.MailedLink.Query().Where(which...).Exist(ctx)
	if err != nil {
		return false, fmt.Errorf("look for a link: %w", err)
	}
	return alive, nil
}

// signUp is what the link of a sign-up remembers.
type signUp struct {
	Email   string `json:"email"`
	Company string `json:"company"`
}

// answerSignUp mails a link to open the company by, whether or not the address has an account.
func (l *Letters) answerSignUp(ctx context.Context, tx *store.Tx, a ask) error {
	filled, err := json.Marshal(signUp{Email: a.Email, Company: a.Company})
	if err != nil {
		return fmt.Errorf("write the sign-up: %w", err)
	}
	token, err := newLink(ctx, tx, mailedlink.KindSignUp, func(m *ent.MailedLinkCreate) { m.SetData(filled) })
	if err != nil {
		return err
	}
	return l.openCompany(ctx, tx, a.Email, token)
}
