package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/webhookdelivery"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
)

const stoppedWait = time.Second // after an attempt that this node could not finish

// attempt is an attempt to be recorded.
type attempt struct {
	args         AttemptArgs
	subscription *ent.WebhookSubscription // as it was before the attempt
	report       report
	lost         []Attempt
}

// record writes an attempt into the history in one short transaction, with the job of the next one and the changes of the
// subscription. It returns the outcome of the delivery. River completes the attempt's own job afterwards: if this node dies
// before that, the job runs once more and finds the attempt made.
func (d *Dispatcher) record(ctx context.Context, a *attempt) (outcome webhookdelivery.Outcome, err error) {
	err = d.Store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		row, err := store.Lock(tx, tx.WebhookDelivery.Query().Where(webhookdelivery.ID(a.args.Delivery))).Only(ctx) // a replay may change it at the same time
		if ent.IsNotFound(err) {
			outcome = webhookdelivery.OutcomeFAILED // deleted with its subscription while the call was made
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the delivery: %w", err)
		}
		if outcome, err = d.recordOutcome(ctx, tx, row, a); err != nil {
			return err
		}
		return d.updateSubscription(ctx, tx, a)
	})
	if err != nil {
		return "", fmt.Errorf("record an attempt: %w", err)
	}
	return outcome, nil
}

// recordOutcome adds an attempt to its delivery, and inserts the job of the next one, if any.
func (d *Dispatcher) recordOutcome(ctx context.Context, tx *store.Tx, row *ent.WebhookDelivery, a *attempt) (webhookdelivery.Outcome, error) {
	attempts, err := AttemptsOf(row)
	if err != nil {
		return "", err
	}
	late := stale(a.args, row, attempts)
	a.report.attempt.Step = a.args.Step
	attempts = append(append(attempts, a.lost...), a.report.attempt)
	raw, err := json.Marshal(attempts)
	if err != nil {
		return "", fmt.Errorf("write the attempts: %w", err)
	}
	outcome := row.Outcome
	u := tx.WebhookDelivery.Update().Where(webhookdelivery.ID(row.ID)).SetAttempts(raw).SetRetryCount(len(attempts) - 1)
	switch wait, again := d.wait(a); {
	case a.report.verdict == succeeded:
		outcome = webhookdelivery.OutcomeSUCCESS
	case late: // a replay or another job has decided how the delivery continues
	case again:
		now := d.Store.Clock().Now()
		at := now.Add(wait)
		u.SetNextAttemptAt(at)
		next := AttemptArgs{Delivery: row.ID, Subscription: row.SubscriptionID, Company: row.CompanyID, Attempt: len(attempts) + 1, Step: nextStep(attempts)}
		if err := d.Queue.InsertManyTx(ctx, tx, jobs.Job{Args: next, At: jobs.At(at, now)}); err != nil {
			return "", err
		}
	default:
		outcome = webhookdelivery.OutcomeFAILED
	}
	if outcome != webhookdelivery.OutcomePENDING {
		u.SetOutcome(outcome).ClearNextAttemptAt()
	}
	if err := u.Exec(ctx); err != nil {
		return "", fmt.Errorf("write a delivery: %w", err)
	}
	return outcome, nil
}

// wait returns the wait before the next attempt, and false when there is none.
func (d *Dispatcher) wait(a *attempt) (time.Duration, bool) {
	switch a.report.verdict {
	case failed:
		return d.retries.after(a.args.Step, a.report.asked)
	case interrupted:
		return stoppedWait, true
	default:
		return 0, false
	}
}
