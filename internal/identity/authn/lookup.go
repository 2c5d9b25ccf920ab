package authn

import (
	"context"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

// statement is one read that finds everything about a credential, in both dialects. Ent would need one query for each
// entity, and round trips make up most of a call's cost. Like all of authentication it runs as the system.
type statement struct{ sqlite, postgres string }

// reading returns the statement for a text in SQLite's dialect.
func reading(text string) statement { return statement{sqlite: text, postgres: store.Numbered(text)} }

// The caller's counterpart in the sandbox, read only for calls to the sandbox: the id of company x's sandbox, and the id
// of user u in it. The account leads to a person's few users; the operator on company_id keeps query planners from
// walking through all users of the sandbox instead.
const (
	sandboxOf = `(SELECT sb.id FROM companies sb WHERE sb.sandbox_of = x.company_id)`
	mirrorOf  = `(SELECT m.id FROM companies sb JOIN users m
	ON m.account_id = u.account_id AND m.live_user_id = u.id AND m.company_id || '' = sb.id WHERE sb.sandbox_of = x.company_id)`
	mirrorAccountOf = `(SELECT m.id FROM companies sb JOIN service_accounts m
	ON m.company_id = sb.id AND m.live_account_id = sa.id WHERE sb.sandbox_of = x.company_id)`
)

// find reads the statement's one row into dest; false when there is none.
func (a *Authenticator) find(ctx context.Context, st statement, args []any, dest ...any) (found bool, err error) {
	drv := ent.DriverOf(a.store.Reader())
	text := st.sqlite
	if drv.Dialect() == dialect.Postgres {
		text = st.postgres
	}
	var rows sql.Rows
	if err := drv.Query(ctx, text, args, &rows); err != nil {
		return false, fmt.Errorf("look the credential up: %w", err)
	}
	if rows.Next() {
		found, err = true, rows.Scan(dest...)
	}
	if err == nil {
		err = rows.Err()
	}
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return false, fmt.Errorf("look the credential up: %w", err)
	}
	return found, nil
}

// person is the user behind a credential.
type person struct {
	id, name, email, role string
	status                user.Status
	signedOutAt           *time.Time
}

// tenancy is the company of a credential, and its sandbox.
type tenancy struct {
	plan                 string
	own                  ratelimit.Own
	sandboxOf, sandboxID *string
}

// columns of companies as c that into reads.
const companyColumns = "c.plan, c.rate_per_minute, c.rate_per_day, c.bytes_per_minute, c.bytes_per_day, c.query_cost, c.sandbox_of"

func (t *tenancy) into() []any {
	return []any{&t.plan, &t.own.PerMinute, &t.own.PerDay, &t.own.BytesPerMinute, &t.own.BytesPerDay, &t.own.QueryCost, &t.sandboxOf}
}

// limit returns the rate limit of the company's callers; a sandbox has that of the Free plan.
func (t *tenancy) limit() (ratelimit.Limit, error) {
	limit, ok := ratelimit.ForCompany(t.plan, t.sandboxOf != nil, t.own)
	if !ok {
		return limit, fmt.Errorf("no limits for plan %s", t.plan)
	}
	return limit, nil
}

// place assigns a credential to the company or, if sandbox is set, to the company's sandbox. mirrorID is the caller's
// user there; nil if there is none yet.
func (a *Authenticator) place(ctx context.Context, c *Credential, t *tenancy, sandbox bool, mirrorID *string) (err error) {
	if c.Limit, err = t.limit(); err != nil {
		return err
	}
	c.Principal.Sandbox = t.sandboxOf != nil
	if !sandbox {
		return nil
	}
	if t.sandboxID == nil {
		return fmt.Errorf("company %s has no sandbox", c.Principal.CompanyID)
	}
	c.Principal.CompanyID, c.Principal.Sandbox, c.Limit = *t.sandboxID, true, ratelimit.Free()
	if mirrorID != nil {
		c.Principal.ID = *mirrorID
		return nil
	}
	return a.mirror(ctx, c)
}
