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
	"atrium/internal/people"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/id"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

// The requests of anonymous callers.
const (
	askReset  = "reset"
	askSignUp = "sign_up"
)

// ask is an anonymous request. A job finds out what to mail, if anything: the request is answered before that, so its answer
// reveals nothing.
type ask struct {
	Kind    string `json:"kind"`
	Email   string `json:"email"`
	Company string `json:"company,omitempty"` // the name of the company to open
	Locale  string `json:"locale,omitempty"`  // the language of the page
	Enough  bool   `json:"enough,omitempty"`  // the address has had many mails: mail it only if it has no valid link
}

// askedArgs is the job. Its request is sealed, because it may be about people who have no account here.
type askedArgs struct {
	ID     string `json:"id"`
	Sealed []byte `json:"sealed"`
}

// Kind names the job.
func (askedArgs) Kind() string { return "account_asked" }

// InsertOpts limits the attempts so that they end within the life of a link.
func (askedArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 6} }

// ask queues a request in the transaction.
func (l *Mails) ask(ctx context.Context, tx *store.Tx, a ask) error {
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

// Work makes a job queue answer anonymous requests.
func Work(l *Mails) jobs.Option { return jobs.Work(&asked{mails: l}) }

type asked struct {
	river.WorkerDefaults[askedArgs]
	mails *Mails
}

// Work mails the answer to the request, if there is one.
func (w *asked) Work(ctx context.Context, job *river.Job[askedArgs]) error {
	l := w.mails
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

// answerReset mails a link for setting a password. It mails the invitation again to somebody who has not set a password yet,
// and nothing to an address without an account.
func (l *Mails) answerReset(ctx context.Context, tx *store.Tx, a ask) error {
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
	return l.reset(ctx, tx, acc, a.Locale)
}

// stillLong is how long a link must still work so that its owner needs no other one.
const stillLong = 20 * time.Minute

// alive reports whether an address that has had enough mails has a link that still works for a while. So the owner always has
// a working link, however many others have requested in the owner's name.
func (l *Mails) alive(ctx context.Context, tx *store.Tx, a ask, which ...predicate.MailedLink) (bool, error) {
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

// signUp is the data of a sign-up's link.
type signUp struct {
	Email   string `json:"email"`
	Company string `json:"company"`
}

// answerSignUp mails a link for opening the company, whether or not the address has an account.
func (l *Mails) answerSignUp(ctx context.Context, tx *store.Tx, a ask) error {
	filled, err := json.Marshal(signUp{Email: a.Email, Company: a.Company})
	if err != nil {
		return fmt.Errorf("write the sign-up: %w", err)
	}
	token, err := newLink(ctx, tx, mailedlink.KindSignUp, func(m *ent.MailedLinkCreate) { m.SetData(filled) })
	if err != nil {
		return err
	}
	return l.openCompany(ctx, tx, a.Email, token, a.Locale)
}
