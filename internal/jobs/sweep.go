package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/authrequest"
	"atrium/ent/grant"
	"atrium/ent/idempotencykey"
	"atrium/ent/mailedlink"
	"atrium/ent/refreshtoken"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/throttle"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/store"
)

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 1000 // rows a transaction, so that no sweep holds the writer for long

	// readable is how long sessions and mailed links that are over are kept, so that their owners can be told what
	// became of them.
	readable = 30 * 24 * time.Hour
)

// SweepArgs is the job that deletes what is kept for a time only.
type SweepArgs struct{}

// Kind names the job.
func (SweepArgs) Kind() string { return "sweep" }

// passing are the tables whose rows go. Each entry names its rows, says how long ago their time must have ended, and
// deletes at most limit of them, those that ended before a moment.
var passing = []struct {
	rows   string
	after  time.Duration
	delete func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error)
}{
	{"idempotency keys", op.IdempotencyWindow, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.IdempotencyKey.Query().Where(idempotencykey.CreatedAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...))
		})
	}},
	{"decisions", op.DecisionAge, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.AccessDecision.Query().Where(accessdecision.CreatedAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.AccessDecision.Delete().Where(accessdecision.IDIn(ids...))
		})
	}},
	{"decisions beyond a company's share", 0, func(ctx context.Context, db *ent.Client, _ time.Time, limit int) (int, error) {
		find := func(ctx context.Context) ([]string, error) { return excess(ctx, db, limit) }
		return gone(ctx, find, func(ids []string) deletion { return db.AccessDecision.Delete().Where(accessdecision.IDIn(ids...)) })
	}},
	{"authorization requests", 0, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.AuthRequest.Query().Where(authrequest.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.AuthRequest.Delete().Where(authrequest.IDIn(ids...), authrequest.ExpiresAtLT(before))
		})
	}},
	{"refresh tokens", 0, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.RefreshToken.Query().Where(refreshtoken.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.RefreshToken.Delete().Where(refreshtoken.IDIn(ids...))
		})
	}},
	{"grants", 0, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.Grant.Query().Where(grant.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.Grant.Delete().Where(grant.IDIn(ids...), grant.ExpiresAtLT(before))
		})
	}},
	{"sign-ins", 0, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.SignIn.Query().Where(signin.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.SignIn.Delete().Where(signin.IDIn(ids...), signin.ExpiresAtLT(before))
		})
	}},
	{"throttles", 0, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.Throttle.Query().Where(throttle.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.Throttle.Delete().Where(throttle.IDIn(ids...), throttle.ExpiresAtLT(before))
		})
	}},
	{"sessions", readable, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.Session.Query().Where(session.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.Session.Delete().Where(session.IDIn(ids...), session.ExpiresAtLT(before))
		})
	}},
	{"mailed links", readable, func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		return gone(ctx, db.MailedLink.Query().Where(mailedlink.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
			return db.MailedLink.Delete().Where(mailedlink.IDIn(ids...))
		})
	}},
}

// excess finds the oldest decisions of companies that keep more than their share.
func excess(ctx context.Context, db *ent.Client, limit int) ([]string, error) {
	var counts []struct {
		CompanyID string `json:"company_id"`
		Count     int    `json:"count"`
	}
	err := db.AccessDecision.Query().GroupBy(accessdecision.FieldCompanyID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return nil, fmt.Errorf("count the companies' decisions: %w", err)
	}
	var all []string
	for _, c := range counts {
		over := min(c.Count-op.DecisionCount, limit-len(all))
		if over <= 0 {
			continue
		}
		ids, err := db.AccessDecision.Query().Where(accessdecision.CompanyID(c.CompanyID)).
			Order(accessdecision.ByCreatedAt(), accessdecision.ByID()).Limit(over).IDs(ctx)
		if err != nil {
			return nil, fmt.Errorf("find the oldest decisions: %w", err)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// deletion is one of Ent's delete builders.
type deletion interface {
	Exec(ctx context.Context) (int, error)
}

// gone deletes the rows that find finds, and returns how many there were. Where a row's time moves on while it is used,
// del asks for it again: the row may have been used since it was found.
func gone(ctx context.Context, find func(context.Context) ([]string, error), del func(ids []string) deletion) (int, error) {
	ids, err := find(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return del(ids).Exec(ctx) //nolint:wrapcheck // the sweeper names the rows
}

type sweeper struct {
	river.WorkerDefaults[SweepArgs]
	store *store.Store
}

// Work deletes expired rows, a batch at a time. A table that fails keeps no other from being swept.
func (s *sweeper) Work(ctx context.Context, _ *river.Job[SweepArgs]) error {
	ctx = principal.System(ctx, "expired rows of all companies are swept together")
	now := s.store.Clock().Now()
	var errs []error
	for _, t := range passing {
		for n := sweepBatch; n == sweepBatch; {
			err := s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				n, err = t.delete(ctx, tx.Client, now.Add(-t.after), sweepBatch)
				return err
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("sweep %s: %w", t.rows, err))
				break
			}
		}
	}
	return errors.Join(errs...)
}
