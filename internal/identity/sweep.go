package identity

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/ent/grant"
	"atrium/ent/mailedlink"
	"atrium/ent/refreshtoken"
	"atrium/ent/session"
	"atrium/ent/signin"
	"atrium/ent/throttle"
	"atrium/internal/platform/jobs"
)

// readable is how long sessions and mailed links are stored after their end, so that their owners can be told why they
// ended.
const readable = 30 * 24 * time.Hour

// Sweeps delete expired rows of signing in, of all companies.
func Sweeps() jobs.Option {
	return jobs.Sweeps(
		sweep("authorization requests", 0, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.AuthRequest.Query().Where(authrequest.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.AuthRequest.Delete().Where(authrequest.IDIn(ids...), authrequest.ExpiresAtLT(before))
			}
		}),
		sweep("refresh tokens", 0, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.RefreshToken.Query().Where(refreshtoken.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.RefreshToken.Delete().Where(refreshtoken.IDIn(ids...))
			}
		}),
		sweep("grants", 0, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.Grant.Query().Where(grant.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.Grant.Delete().Where(grant.IDIn(ids...), grant.ExpiresAtLT(before))
			}
		}),
		sweep("sign-ins", 0, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.SignIn.Query().Where(signin.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.SignIn.Delete().Where(signin.IDIn(ids...), signin.ExpiresAtLT(before))
			}
		}),
		sweep("throttles", 0, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.Throttle.Query().Where(throttle.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.Throttle.Delete().Where(throttle.IDIn(ids...), throttle.ExpiresAtLT(before))
			}
		}),
		sweep("sessions", readable, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.Session.Query().Where(session.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.Session.Delete().Where(session.IDIn(ids...), session.ExpiresAtLT(before))
			}
		}),
		sweep("mailed links", readable, func(db *ent.Client, before time.Time, limit int) (find, remove) {
			return db.MailedLink.Query().Where(mailedlink.ExpiresAtLT(before)).Limit(limit).IDs, func(ids []string) deletion {
				return db.MailedLink.Delete().Where(mailedlink.IDIn(ids...))
			}
		}),
	)
}

// find returns the ids of expired rows, and remove the statement that deletes them. If use extends a row's time, the
// statement checks the time again, because the row may have been used since it was found.
type (
	find     = func(context.Context) ([]string, error)
	remove   = func(ids []string) deletion
	deletion interface {
		Exec(ctx context.Context) (int, error)
	}
)

func sweep(rows string, kept time.Duration, table func(db *ent.Client, before time.Time, limit int) (find, remove)) jobs.Sweep {
	return jobs.Sweep{Rows: rows, Kept: kept, Delete: func(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
		find, remove := table(db, before, limit)
		ids, err := find(ctx)
		if err != nil || len(ids) == 0 {
			return 0, err
		}
		return remove(ids).Exec(ctx)
	}}
}
