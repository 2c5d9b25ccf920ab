package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Launch is an execution that an inbound webhook or a schedule starts.
type Launch struct {
	WorkflowID string
	WebhookID  string          // empty for a schedule
	Key        *string         // the caller's idempotency key, unique for the webhook; nil for none
	Webhook    json.RawMessage // the variable webhook: an object of body, headers, method and receivedAt
	Intake     *Intake         // nil for an execution without a request
}

// Start creates the execution and the job of its first step, in the transaction of the call. Returns conflict for a workflow
// that is not active. It evaluates nothing: the job does that.
func (l Launch) Start(ctx context.Context, tx *op.Tx) (*ent.Execution, error) {
	version, err := activeVersion(tx.Unfiltered(ctx, "who may call the webhook, or run the schedule, starts its workflow"), tx.Client, l.WorkflowID)
	if err != nil {
		return nil, err
	}
	if version == 0 {
		return nil, apperr.New(apperr.Conflict, "The workflow is not active.")
	}
	priority, err := priorityOf(ctx, tx.Client)
	if err != nil {
		return nil, err
	}
	trigger := execution.TriggerWebhook
	if l.WebhookID == "" {
		trigger = execution.TriggerSchedule
	}
	create := tx.Execution.Create().SetWorkflowID(l.WorkflowID).SetWorkflowVersion(version).SetTrigger(trigger).
		SetWebhook(l.Webhook).SetNillableInboundKey(l.Key)
	if trigger == execution.TriggerWebhook {
		create.SetInboundWebhookID(l.WebhookID)
	}
	if l.Intake != nil {
		intake, err := encode(l.Intake)
		if err != nil {
			return nil, err
		}
		create.SetIntake(intake)
	}
	row, err := create.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the workflow: %w", err)
	}
	return row, tx.Insert(ctx, StepArgs{Company: row.CompanyID, Execution: row.ID, Cause: causeOf(ctx), priority: priority}, time.Time{})
}

// Repeated returns the id of the execution that a webhook has started under the key; empty when there is none. A lock makes
// concurrent calls with the same key wait for each other, on all nodes.
func Repeated(ctx context.Context, tx *op.Tx, webhookID, key string) (string, error) {
	if err := tx.LockName(ctx, "inbound/"+webhookID+"/"+key); err != nil {
		return "", err
	}
	id, err := tx.Execution.Query().Where(execution.InboundWebhookID(webhookID), execution.InboundKey(key)).
		OnlyID(tx.Unfiltered(ctx, "the caller gets its first answer again, whatever policies hide"))
	if err != nil && !ent.IsNotFound(err) {
		return "", fmt.Errorf("look for the first call: %w", err)
	}
	return id, nil
}
