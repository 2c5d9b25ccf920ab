package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"entgo.io/ent/dialect/sql/schema"

	"atrium/ent/billingaccount"
	"atrium/ent/company"
	"atrium/ent/creditentry"
	"atrium/ent/creditnote"
	"atrium/ent/invoice"
	"atrium/ent/journalline"
	"atrium/ent/payment"
	entsecret "atrium/ent/secret"
	"atrium/internal/platform/egress"
)

// Asked says what a file asks for, by name of the grant, and where it does so first. It is the error of an import that was not told to
// give it.
type Asked map[string]string

// Error names the grants and how to give them.
func (a Asked) Error() string {
	var b strings.Builder
	b.WriteString("the file asks for what only the operator gives:")
	names := slices.Sorted(maps.Keys(a))
	for _, name := range names {
		b.WriteString("\n  " + name + ": " + a[name])
	}
	return b.String() + "\nIf the company shall have it, import it with --accept " + strings.Join(names, ",")
}

// unless returns an error if something was asked for that is not accepted.
func (a Asked) unless(accepted []string) error {
	open := maps.Clone(a)
	maps.DeleteFunc(open, func(name, _ string) bool { return slices.Contains(accepted, name) })
	if len(open) > 0 {
		return open
	}
	return nil
}

// limits are the columns by which an operator overrides a plan's numbers.
var limits = []string{company.FieldRatePerMinute, company.FieldRatePerDay, company.FieldBytesPerMinute, company.FieldBytesPerDay, company.FieldInvitationsPerDay, company.FieldQueryCost}

// billed are the tables whose rows are money.
var billed = []string{creditentry.Table, creditnote.Table, invoice.Table, journalline.Table, payment.Table}

// note notes for what a row asks, unless one before it has asked for the same.
func (i *importer) note(grant string, t *schema.Table, column string, value any) {
	if i.asked[grant] == "" {
		i.asked[grant] = strings.TrimSpace(fmt.Sprintf("line %d: %s of %s: %v", i.in.n, column, t.Name, value))
	}
}

// ask notes what a row asks for. Returns ErrForeign for a customer of the payment provider who is another company's here: that is not
// the operator's to give.
func (i *importer) ask(ctx context.Context, t *schema.Table, row map[string]any) error {
	note := func(grant, column string, value any) { i.note(grant, t, column, value) }
	switch {
	case t.Name == company.Table:
		if plan := row[company.FieldPlan]; plan != string(company.PlanFree) {
			note("plan", company.FieldPlan, plan)
		}
		for _, column := range limits {
			if row[column] != nil {
				note("limits", column, row[column])
			}
		}
	case t.Name == billingaccount.Table:
		if row[billingaccount.FieldBalance] != int64(0) {
			note("billing", billingaccount.FieldBalance+" (in cents)", row[billingaccount.FieldBalance])
		}
		if row[billingaccount.FieldAnchorAt] != nil {
			note("plan", billingaccount.FieldAnchorAt, "a subscription that was begun")
		}
	case t.Name == entsecret.Table:
		if hosts := texts(row[entsecret.FieldAllowedHosts]); len(hosts) == 0 || slices.Contains(hosts, egress.Everywhere) {
			note("secret-hosts", entsecret.FieldAllowedHosts, fmt.Sprintf("any host, for %v", row[entsecret.FieldName]))
		}
	case slices.Contains(billed, t.Name):
		note("billing", "a row", "invoices, credits or payments")
	}
	for _, column := range []string{billingaccount.FieldCustomer, billingaccount.FieldPaymentMethod} {
		if text, ok := row[column].(string); ok && text != "" {
			note("payment-method", column, text)
			if err := i.notCharged(ctx, t, column, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// notCharged refuses a name of the payment provider's under which another company here is charged.
func (i *importer) notCharged(ctx context.Context, t *schema.Table, column, name string) error {
	if i.near[column+name] {
		return nil
	}
	for _, table := range []string{billingaccount.Table, payment.Table} {
		other, err := i.first(ctx, "SELECT id FROM "+table+" WHERE "+column+" = ? AND company_id NOT IN (?, ?) LIMIT 1", name, i.header.Company, i.header.Sandbox)
		if err != nil {
			return err
		}
		if other != "" {
			return i.fault(ErrForeign, t, column, "is another company's here")
		}
	}
	i.noteNear(column + name)
	return nil
}
