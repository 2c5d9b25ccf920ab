package execution_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	run "atrium/internal/workflow/execution"
)

// What a workflow tells names its execution: an incident may have no request that leads to it.
func TestNoticesNameTheirExecution(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		s := open(t, w, line([]body{
			phase("start", "START", nil), phase("sum", "DATA", body{"kind": "enrich", "set": body{"n": "webhook.body.m + 1.0"}}), phase("done", "END", nil),
		}))
		s.work()
		hook := testkit.Run(t, w, s.ctx, inbound.CreateWebhook, inbound.CreateWebhookInput{Name: "Monitoring", WorkflowID: s.workflow.ID})
		var begun *ent.Execution
		require.NoError(t, w.Engine.Work(s.ctx, s.workflow.CompanyID, "test", func(ctx context.Context, tx *op.Tx) (err error) {
			begun, err = run.Launch{WorkflowID: s.workflow.ID, WebhookID: hook.ID, Webhook: json.RawMessage(`{"body":{}}`)}.Start(ctx, tx)
			return err
		}))
		var told *ent.Notification
		require.Eventually(t, func() bool {
			list := testkit.Run(t, w, s.ctx, notice.List, notice.ListInput{})
			if list.Total == 0 {
				return false
			}
			told = list.Rows[0]
			return true
		}, patience, tick)
		require.Nil(t, told.RequestID)
		require.Equal(t, begun.ID, *told.ExecutionID)
	})
}
