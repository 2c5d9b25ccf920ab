package inbound_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
)

// A call can be sent again, whatever the length of its body; it starts another execution.
func TestCallsAreSentAgain(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		long := `{"text":"` + strings.Repeat("é", 20_000) + `","n":1.50}`
		a := h.take(h.signed(long))
		call := h.calls()[0]
		require.LessOrEqual(t, len(call.Body), 16<<10)
		require.Equal(t, long[:len(call.Body)], call.Body, "cut between two characters")
		require.Equal(t, len(long), call.BodyBytes)
		again := testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: call.ID})
		require.Equal(t, "ACCEPTED", string(again.Outcome))
		require.Equal(t, call.ID, *again.ReplayOf)
		require.NotEqual(t, a.ExecutionID, *again.ExecutionID)
		first, err := h.Store.Reader().Execution.Get(h.ctx, a.ExecutionID)
		require.NoError(t, err)
		second, err := h.Store.Reader().Execution.Get(h.ctx, *again.ExecutionID)
		require.NoError(t, err)
		var was, is struct {
			Body    json.RawMessage
			Headers map[string]string
		}
		require.NoError(t, json.Unmarshal(first.Webhook, &was))
		require.NoError(t, json.Unmarshal(second.Webhook, &is))
		require.Equal(t, string(was.Body), string(is.Body))
		require.Equal(t, was.Headers, is.Headers)

		require.Error(t, h.refused(h.signed(`{`))) // its body is not JSON, so it cannot be sent again
		rejected := h.calls()[2]
		testkit.Refused(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: rejected.ID}, apperr.Conflict)
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, Enabled: op.SetTo(false)})
		testkit.Refused(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: call.ID}, apperr.Conflict, "a disabled webhook starts nothing")
	})
}

// The history shows a call without the company's secrets, like the execution that it starts: in its headers, and in its body however that is
// cut. One that started nothing cannot be sent again then, since it is not whole.
func TestHistoryHidesSecrets(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		const value = "erp-41c9f07d2b-8861"
		testkit.Run(t, h.World, h.ctx, secret.CreateSecret, secret.CreateSecretInput{AllowedHosts: []string{"*"}, Name: "ERP", Value: value})
		c := h.signed(`{"key":"` + value + `","text":"` + strings.Repeat("x", 16<<10-60) + value + `"}`)
		c.Header.Set("X-Source", "by "+value)
		h.take(c)
		started := h.calls()[0]
		require.Equal(t, "by ***", started.Headers["x-source"])
		require.True(t, strings.HasPrefix(started.Body, `{"key":"***","text":"xxx`))
		require.NotContains(t, started.Body, "erp-")
		require.Equal(t, len(c.Body), started.BodyBytes)
		testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: started.ID})

		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, When: op.SetTo("webhook.body.n == 1")})
		h.ignored(h.signed(`{"key":"` + value + `"}`))
		ignored := h.calls()[2]
		require.Equal(t, `{"key":"***"}`, ignored.Body)
		testkit.Refused(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: ignored.ID}, apperr.Conflict)
	})
}

// The history keeps the newest calls of each webhook.
func TestHistoryIsBounded(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		const beyond = 3
		newest := ""
		err := h.Store.Write(h.ctx, func(ctx context.Context, tx *store.Tx) error {
			for from := 0; from < inbound.KeptCalls+beyond; from += 100 {
				var rows []*ent.InboundCallCreate
				for range min(100, inbound.KeptCalls+beyond-from) {
					rows = append(rows, tx.InboundCall.Create().SetWebhookID(h.issued.ID).SetOutcome("REJECTED"))
				}
				made, err := tx.InboundCall.CreateBulk(rows...).Save(ctx)
				if err != nil {
					return err
				}
				newest = made[len(made)-1].ID
			}
			return nil
		})
		require.NoError(t, err)
		swept := 0
		err = h.Store.Write(h.ctx, func(ctx context.Context, tx *store.Tx) (err error) {
			swept, err = inbound.DeleteExcess(ctx, tx.Client, time.Time{}, 1000)
			return err
		})
		require.NoError(t, err)
		require.Equal(t, beyond, swept)
		_, err = h.Store.Reader().InboundCall.Get(h.ctx, newest)
		require.NoError(t, err)
	})
}
