package transfer

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql/schema"

	"atrium/ent"
	"atrium/ent/account"
	"atrium/ent/attachment"
	"atrium/ent/company"
	"atrium/ent/consent"
	"atrium/ent/event"
	"atrium/ent/externalidentity"
	"atrium/ent/user"
	companies "atrium/internal/people/company"
)

// adapt changes values that must differ here, and reports whether to import the row.
func (i *importer) adapt(ctx context.Context, t *schema.Table, row map[string]any) (bool, error) {
	if t.Name == account.Table {
		if err := i.check(t, row); err != nil {
			return false, err
		}
		return i.account(ctx, t, row)
	}
	if !i.owns(t, row) {
		return false, fmt.Errorf("%w: line %d: it has a row of %s that is not the company's", ErrForeign, i.in.n, t.Name)
	}
	for _, fn := range []func() error{
		func() error { return i.check(t, row) },
		func() error { return i.inside(ctx, t, row) },
		func() error { return i.ask(ctx, t, row) },
		func() error { return i.ownFile(t, row) },
	} {
		if err := fn(); err != nil {
			return false, err
		}
	}
	if id, ofAccount := row["account_id"].(string); ofAccount {
		if keep, err := i.ofAccount(ctx, t, row, id); err != nil || !keep {
			return false, err
		}
	}
	if t.Name == attachment.Table && row[attachment.FieldDeletedAt] != nil {
		return false, nil
	}
	if t.Name == externalidentity.Table || t.Name == consent.Table {
		return i.ofNewcomer(ctx, row)
	}
	if t.Name == event.Table && row[event.FieldSequence] == nil {
		row[event.FieldSequence] = int64(0) // stays without a number, although the database numbers what is new
	}
	if t.Name == company.Table {
		wanted, _ := row["slug"].(string)
		slug, err := companies.FreeSlug(ctx, i.tx.Client, wanted)
		row["slug"] = slug
		return true, err
	}
	return true, i.later(t, row)
}

// later puts off a reference between rows of one table.
func (i *importer) later(t *schema.Table, row map[string]any) error {
	parent := ownParent(t)
	if parent == "" || row[parent] == nil {
		return nil
	}
	if i.parents[t] == nil {
		i.parents[t] = map[string]any{}
	}
	id, _ := row["id"].(string)
	i.parents[t][id] = row[parent]
	row[parent] = nil
	if len(i.parents[t]) > mostParents {
		return i.fault(ErrRow, t, parent, fmt.Sprintf("must not be set in more than %d rows", mostParents))
	}
	return nil
}

// owns reports whether a row belongs to the company of the file, to its sandbox or to an account. Whoever exported the company may
// have written the file.
func (i *importer) owns(t *schema.Table, row map[string]any) bool {
	switch {
	case t.Name == company.Table && row["id"] == i.header.Company:
		return row["sandbox_of"] == nil
	case t.Name == company.Table:
		return i.ours(row["id"]) && row["sandbox_of"] == i.header.Company
	case accountTables[t.Name] != "":
		return row["account_id"] != nil
	}
	return i.ours(row["company_id"])
}

// ours reports whether an id is that of the file's company or of its sandbox.
func (i *importer) ours(id any) bool {
	return id != nil && id != "" && (id == i.header.Company || id == i.header.Sandbox)
}

// account reports whether to import an account. An account that exists here, with the same id or address, is used instead. One
// that is new here is unproven: the file could have been written with anybody's address and a password of its author's.
func (i *importer) account(ctx context.Context, t *schema.Table, row map[string]any) (bool, error) {
	id, _ := row["id"].(string)
	known := account.ID(id)
	if email, ok := row["email"].(string); ok && email != "" {
		known = account.Or(known, account.Email(email))
	}
	here, err := i.tx.Account.Query().Where(known).FirstID(ctx)
	if ent.IsNotFound(err) {
		row[account.FieldUnprovenSince] = i.began
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the account: %w", err)
	}
	if i.taken[here] || i.accounts[id] != "" {
		return false, i.fault(ErrRow, t, account.FieldEmail, "must not be that of two accounts")
	}
	i.accounts[id], i.taken[here] = here, true
	return false, nil
}

// ofAccount reports whether to import a row of an account. The account here has factors of its own. Its owner is asked before they
// become a member, and the company sees nothing of the account until then.
func (i *importer) ofAccount(ctx context.Context, t *schema.Table, row map[string]any, id string) (bool, error) {
	here := i.accounts[id]
	if here == "" {
		brought, err := i.tx.Account.Query().Where(account.ID(id), account.UnprovenSince(i.began)).Exist(ctx)
		if err != nil {
			return false, fmt.Errorf("look for the account: %w", err)
		}
		if !brought {
			return false, fmt.Errorf("%w: line %d: it has a row of %s that is not the company's", ErrForeign, i.in.n, t.Name)
		}
		return true, nil
	}
	if accountTables[t.Name] != "" {
		return false, nil
	}
	row["account_id"] = here
	if t.Name == user.Table && row[user.FieldLiveUserID] == nil {
		if row[user.FieldStatus] == string(user.StatusActive) {
			row[user.FieldStatus] = string(user.StatusInvited)
		}
		row[user.FieldAcceptedAt], row[user.FieldMfaEnabled] = nil, false
	}
	return true, nil
}

// ofNewcomer reports whether to import what a user has allowed an application, or by which issuer they sign in: what the file says of
// somebody who has an account here would let its author in as them.
func (i *importer) ofNewcomer(ctx context.Context, row map[string]any) (bool, error) {
	id, _ := row[consent.FieldUserID].(string)
	acc, err := i.tx.User.Query().Where(user.ID(id)).Select(user.FieldAccountID).String(ctx)
	if ent.IsNotFound(err) {
		return true, nil // refused by its foreign key
	}
	if err != nil {
		return false, fmt.Errorf("look for the user: %w", err)
	}
	return !i.taken[acc], nil
}
