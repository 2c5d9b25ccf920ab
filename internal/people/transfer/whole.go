package transfer

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/user"
	"atrium/internal/platform/store"
)

// A rule holds for all rows of the company and its sandbox. Its statement returns the id of one that breaks it; the arguments are the
// ids of the company and of its sandbox, as often as it asks for both.
type rule struct {
	column, table, must string
	statement           string
}

// rules are what no single line can tell.
var rules = append(references(), []rule{
	{"live_user_id", user.Table, "must be the person's user in the company", `SELECT m.id FROM users m JOIN (SELECT ? AS live, ? AS sandbox) f ON m.company_id IN (f.live, f.sandbox)
		LEFT JOIN users l ON l.id = m.live_user_id AND l.company_id = f.live AND l.live_user_id IS NULL AND l.account_id = m.account_id
		WHERE m.live_user_id IS NOT NULL AND (m.company_id <> f.sandbox OR l.id IS NULL) LIMIT 1`},
	{"live_account_id", "service_accounts", "must be a service account of the company", `SELECT m.id FROM service_accounts m JOIN (SELECT ? AS live, ? AS sandbox) f ON m.company_id IN (f.live, f.sandbox)
		LEFT JOIN service_accounts l ON l.id = m.live_account_id AND l.company_id = f.live AND l.live_account_id IS NULL
		WHERE m.live_account_id IS NOT NULL AND (m.company_id <> f.sandbox OR l.id IS NULL) LIMIT 1`},
	{"email", user.Table, "must be that of the account", `SELECT u.id FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.company_id IN (?, ?)
		AND u.live_user_id IS NULL AND u.status = 'active' AND a.email <> '' AND a.email <> u.email LIMIT 1`},
	{"balance", "billing_accounts", "must be the sum of the credit entries", `SELECT b.id FROM billing_accounts b WHERE b.company_id IN (?, ?)
		AND b.balance <> (SELECT COALESCE(SUM(e.amount), 0) FROM credit_entries e WHERE e.company_id = b.company_id) LIMIT 1`},
	{"company_id", "billing_accounts", "must be of a live company that has no other", `SELECT b.id FROM billing_accounts b JOIN companies c ON c.id = b.company_id WHERE c.id IN (?, ?)
		AND (c.sandbox_of IS NOT NULL OR EXISTS (SELECT 1 FROM billing_accounts o WHERE o.company_id = b.company_id AND o.id <> b.id)) LIMIT 1`},
}...)

// references returns a rule for each foreign key. SQLite would say at the end only that some key is violated.
func references() (out []rule) {
	for _, t := range tables {
		for _, fk := range t.ForeignKeys {
			column := fk.Columns[len(fk.Columns)-1].Name
			if _, owned := fk.RefTable.Column("company_id"); !owned || column == "company_id" {
				continue
			}
			out = append(out, rule{column, t.Name, "must be of a row that the file has", "SELECT m.id FROM " + t.Name + " m LEFT JOIN " + fk.RefTable.Name +
				" r ON r.company_id = m.company_id AND r.id = m." + column + " WHERE m.company_id IN (?, ?) AND m." + column + " IS NOT NULL AND r.id IS NULL LIMIT 1"})
		}
	}
	return out
}

// whole returns ErrRow with the row's id for what breaks a rule.
func (i *importer) whole(ctx context.Context) error {
	for _, r := range rules {
		id, err := i.first(ctx, r.statement, i.header.Company, i.header.Sandbox)
		if err != nil {
			return err
		}
		if id != "" {
			return fmt.Errorf("%w: %s of the row %s of %s %s", ErrRow, r.column, id, r.table, r.must)
		}
	}
	return nil
}

// first returns the text in the first column of a statement's first row; empty if there is none.
func (i *importer) first(ctx context.Context, statement string, args ...any) (out string, err error) {
	if i.tx.Dialect() == dialect.Postgres {
		statement = store.Numbered(statement)
	}
	var rows sql.Rows
	if err := ent.DriverOf(i.tx.Client).Query(ctx, statement, args, &rows); err != nil {
		return "", fmt.Errorf("check the file: %w", err)
	}
	if rows.Next() {
		err = rows.Scan(&out)
	}
	if err == nil {
		err = rows.Err()
	}
	if closed := rows.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", fmt.Errorf("check the file: %w", err)
	}
	return out, nil
}

// noteNear notes that what an id or a name stands for is no other company's. It keeps a bounded number.
func (i *importer) noteNear(name string) {
	if len(i.near) >= mostNear {
		clear(i.near)
	}
	i.near[name] = true
}

// mostNear limits what is noted of references.
const mostNear = 10_000

// invite mails an invitation to everybody who has an account here, at the account's own address: a file names others.
func (i *importer) invite(ctx context.Context) error {
	for _, id := range i.accounts {
		acc, err := i.tx.Account.Query().Where(account.ID(id)).Only(ctx)
		if err != nil {
			return fmt.Errorf("read the account: %w", err)
		}
		u, err := i.tx.User.Query().Where(user.CompanyID(i.header.Company), user.AccountID(id), user.StatusEQ(user.StatusInvited), user.Email(acc.Email)).Only(ctx)
		if ent.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for the user: %w", err)
		}
		i.invited++
		if i.Invite == nil {
			continue
		}
		if err := i.Invite(ctx, i.tx, u); err != nil {
			return err
		}
	}
	return nil
}
