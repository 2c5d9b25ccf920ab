package access

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/grant"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
)

// Reason says why access ends.
type Reason string

// The reasons, one for each way in which access ends.
const (
	Deactivated         Reason = "deactivated"
	Erased              Reason = "erased"
	SignedOutEverywhere Reason = "signed out everywhere"
	SessionEnded        Reason = "session ended"
	SignedOut           Reason = "signed out"
	FactorsReset        Reason = "second factors reset"
	PasswordChanged     Reason = "password changed"
	PasswordReset       Reason = "password reset"
	ClientDeleted       Reason = "client deleted"
	ClientWidened       Reason = "client may do more than people have allowed it"
	TokenRevoked        Reason = "token revoked by its client"
	CodeReused          Reason = "an authorization code was used twice"
	RefreshReused       Reason = "a refresh token was used twice"
	Replaced            Reason = "replaced by another in the same browser"
)

// knownToClients reports whether clients need no notice, because they caused the end themselves or are
// deleted.
func (r Reason) knownToClients() bool { return r == ClientDeleted || r == TokenRevoked }

// Tx is the transaction in which access ends: an operation's *op.Tx, or a page's (In).
type Tx interface {
	Ent() *ent.Client
	AsSystem(ctx context.Context, reason string, fn func(context.Context) error) error
	AuthorityChanged()
	Insert(ctx context.Context, job river.JobArgs, at time.Time) error
}

// Queue inserts jobs in transactions; package jobs implements it.
type Queue interface {
	InsertTx(ctx context.Context, tx *store.Tx, job river.JobArgs, at time.Time) error
}

// In returns a page's transaction as a Tx, with the queue for notices.
func In(tx *store.Tx, queue Queue) Tx { return pageTx{tx, queue} }

type pageTx struct {
	*store.Tx
	queue Queue
}

// Ent returns the transaction's client.
func (t pageTx) Ent() *ent.Client { return t.Client }

// Insert adds a job to the transaction.
func (t pageTx) Insert(ctx context.Context, job river.JobArgs, at time.Time) error {
	return t.queue.InsertTx(ctx, t.Tx, job, at)
}

// Ended counts the sessions and grants that were active before and have ended.
type Ended struct{ Sessions, Grants int }

// End ends the access that the scope names. It leaves access unchanged that has ended before.
func End(ctx context.Context, tx Tx, s Scope, why Reason) (out Ended, err error) {
	err = tx.AsSystem(ctx, "sign-ins belong to no company, and what one person has open to several", func(ctx context.Context) error {
		out, err = s.end(ctx, tx, why)
		return err
	})
	if err != nil {
		return Ended{}, fmt.Errorf("end access (%s): %w", why, err)
	}
	tx.AuthorityChanged()
	return out, nil
}

// end is End in a context that can access the rows of all companies.
func (s Scope) end(ctx context.Context, tx Tx, why Reason) (out Ended, err error) {
	db, now := tx.Ent(), clock.From(ctx).Now()
	if s.users != nil {
		if err := db.User.Update().Where(s.users).SetSignedOutAt(now).Exec(ctx); err != nil {
			return out, fmt.Errorf("sign the users out: %w", err)
		}
	}
	if s.signIns != nil {
		if err := db.SignIn.Update().Where(s.signIns, signin.EndedAtIsNil()).SetEndedAt(now).ClearPending().Exec(ctx); err != nil {
			return out, fmt.Errorf("end the sign-ins: %w", err)
		}
	}
	if s.sessions != nil {
		if out.Sessions, err = db.Session.Update().Where(s.sessions, session.EndedAtIsNil()).SetEndedAt(now).Save(ctx); err != nil {
			return out, fmt.Errorf("end the sessions: %w", err)
		}
	}
	if s.grants == nil {
		return out, nil
	}
	revoked, err := db.Grant.Query().Where(s.grants, grant.RevokedAtIsNil()).All(ctx)
	if err != nil {
		return out, fmt.Errorf("find the grants: %w", err)
	}
	if out.Grants, err = db.Grant.Update().Where(s.grants, grant.RevokedAtIsNil()).SetRevokedAt(now).Save(ctx); err != nil {
		return out, fmt.Errorf("revoke the grants: %w", err)
	}
	if out.Grants == 0 || why.knownToClients() {
		return out, nil
	}
	return out, tellClients(ctx, tx, revoked)
}
