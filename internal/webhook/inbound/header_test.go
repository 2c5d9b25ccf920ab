package inbound_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
)

// sent has headers of events, of a proxy, and credentials that no list knows.
func (h *hook) sent() inbound.Call {
	c := h.signed(`{}`)
	for name, value := range map[string]string{
		"X-GitHub-Event": "push", "X-Auth-Key": "k1", "Ocp-Apim-Subscription-Key": "k2", "X-Passphrase": "k3", "X-My-Site-Login": "k4", "X-Api-Key": "k5",
	} {
		c.Header.Set(name, value)
	}
	return c
}

// keptOf returns the headers of the newest call: those that the workflow reads, and those of the history.
func (h *hook) keptOf() (kept, shown map[string]string) {
	h.t.Helper()
	h.take(h.sent())
	calls := h.calls()
	last := calls[len(calls)-1]
	e, err := h.Store.Reader().Execution.Get(h.ctx, *last.ExecutionID)
	require.NoError(h.t, err)
	var webhook struct{ Headers map[string]string }
	require.NoError(h.t, json.Unmarshal(e.Webhook, &webhook))
	return webhook.Headers, last.Headers
}

// A header in Latin-1 is read as that, as HTTP has it.
func TestHeadersInLatin1(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		c := h.signed(`{}`)
		c.Header["X-Source"] = []string{"Zo\xeb"}
		h.take(c)
		c.Header["X-Source"] = []string{"Zoë"}
		h.take(c)
		require.Equal(t, []string{"Zoë", "Zoë"}, []string{h.calls()[0].Headers["x-source"], h.calls()[1].Headers["x-source"]})
	})
}

// A webhook keeps the headers that it asks for, the usual ones of events when it does not say, and no credential in any case.
func TestHeadersThatAreAskedFor(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		set := func(p op.Patch[[]string]) *ent.InboundWebhook {
			return testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, Headers: p})
		}
		require.Nil(t, h.issued.Webhook.Headers)
		usual := map[string]string{"content-type": "application/json", "x-github-event": "push"}
		kept, shown := h.keptOf()
		require.Equal(t, usual, kept)
		for _, name := range []string{"authorization", "x-webhook-signature", "x-source", "x-auth-key", "ocp-apim-subscription-key", "x-passphrase", "x-my-site-login", "x-api-key"} {
			require.Equal(t, "***", shown[name], name)
		}
		require.Equal(t, "push", shown["x-github-event"])

		require.Equal(t, []string{"x-source"}, set(op.SetTo([]string{"X-Source", "x-source"})).Headers)
		kept, _ = h.keptOf()
		require.Equal(t, map[string]string{"x-source": "Probe"}, kept)
		before := h.calls()
		require.Empty(t, set(op.SetTo([]string{})).Headers)
		kept, _ = h.keptOf()
		require.Empty(t, kept)
		testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: before[0].ID})
		calls := h.calls()
		require.Empty(t, calls[len(calls)-1].Headers, "sent again, it is kept as the webhook says now")

		all := set(op.SetTo([]string{"*"}))
		require.NotNil(t, inbound.Warning(all))
		kept, _ = h.keptOf()
		require.Equal(t, map[string]string{"content-type": "application/json", "x-github-event": "push", "x-source": "Probe", "x-my-site-login": "k4"}, kept)

		require.Nil(t, set(op.Clear[[]string]()).Headers)
		kept, _ = h.keptOf()
		require.Equal(t, usual, kept)

		_, _, err := op.Run(h.ctx, h.Engine, inbound.UpdateWebhook, inbound.UpdateWebhookInput{
			ByID: op.ByID{ID: h.issued.ID}, Headers: op.SetTo([]string{"x-fine", "no name", "Authorization", ""}),
		}, nil)
		var fields []string
		for _, d := range apperr.From(err).Details {
			fields = append(fields, d.Field)
		}
		require.Equal(t, []string{"headers[1]", "headers[2]", "headers[3]"}, fields)
	}, func(_ *hook, in *inbound.CreateWebhookInput) { in.Headers = nil })
}
