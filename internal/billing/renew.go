package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/billingaccount"
	"atrium/internal/op"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
)

const (
	renewEvery   = time.Minute
	renewsAtOnce = 500 // accounts per query
)

// RenewArgs is the job that renews subscriptions, forfeits credits and charges invoices.
type RenewArgs struct{}

// Kind names the job.
func (RenewArgs) Kind() string { return "renew_subscriptions" }

// Renewal registers the job that renews and charges. With a nil provider it charges nobody.
func Renewal(e *op.Engine, p Provider) jobs.Option {
	return jobs.All(jobs.Work(&renewer{engine: e, provider: p}), jobs.Every(renewEvery, RenewArgs{}))
}

type renewer struct {
	river.WorkerDefaults[RenewArgs]
	engine   *op.Engine
	provider Provider // nil: the operator records payments
}

// Timeout is longer than River's default: after an outage there is much to do. The next run continues where this one stopped.
func (r *renewer) Timeout(*river.Job[RenewArgs]) time.Duration { return 10 * time.Minute }

// Work renews the accounts that are due before it charges, so that a new invoice is charged in the same run.
func (r *renewer) Work(ctx context.Context, _ *river.Job[RenewArgs]) error {
	err := r.renew(ctx)
	if r.provider != nil {
		err = errors.Join(err, r.charge(ctx))
	}
	return err
}

// renew settles the accounts that are due, each in a transaction of its own.
func (r *renewer) renew(ctx context.Context) error {
	now := r.engine.Store.Clock().Now()
	system := principal.System(ctx, "accounts of all companies come due")
	return jobs.DueEach(ctx, renewsAtOnce, func(last *ent.BillingAccount) ([]*ent.BillingAccount, error) {
		q := r.engine.Store.Reader().BillingAccount.Query().Where(billingaccount.DueAtLTE(now))
		if last != nil {
			q.Where(billingaccount.CompanyIDGT(last.CompanyID))
		}
		due, err := q.Order(billingaccount.ByCompanyID()).Limit(renewsAtOnce).All(system)
		if err != nil {
			return nil, fmt.Errorf("look for accounts that are due: %w", err)
		}
		return due, nil
	}, func(row *ent.BillingAccount) error {
		err := r.engine.Work(ctx, row.CompanyID, "billing", func(ctx context.Context, tx *op.Tx) error {
			_, err := op.RunIn(ctx, tx, Renew, RenewInput{})
			return err
		})
		if err != nil {
			return fmt.Errorf("settle the account of %s: %w", row.CompanyID, err)
		}
		return nil
	})
}

// Renew settles the company's account: it makes the invoices of the periods that have begun, and forfeits expired credits. No
// role of a company may run it.
var Renew = op.New("billing.settle", op.Spec{Resource: "Company", Action: op.Update, Summary: "Renew the subscription"}, onAccount(renew))

// RenewInput is empty: a company has one account.
type RenewInput struct{}

func renew(ctx context.Context, tx *op.Tx, a *account, _ RenewInput) (struct{}, error) {
	tx.About(a.company.ID)
	tx.As("billing.settled")
	return struct{}{}, nil
}
