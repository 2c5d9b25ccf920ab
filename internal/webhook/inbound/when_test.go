package inbound_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
)

func withWhen(when string) func(*hook, *inbound.CreateWebhookInput) {
	return func(_ *hook, in *inbound.CreateWebhookInput) { in.When = &when }
}

// ignored sends a call, which must be ignored, and returns the reason.
func (h *hook) ignored(c inbound.Call) string {
	h.t.Helper()
	before := h.executions()
	out, err := h.door.Take(context.Background(), c)
	require.NoError(h.t, err)
	require.Equal(h.t, inbound.Ignored{Status: "ignored", WebhookID: c.WebhookID}, out)
	raw, err := json.Marshal(out)
	require.NoError(h.t, err)
	require.JSONEq(h.t, `{"status":"ignored","webhookId":"`+c.WebhookID+`","executionId":null}`, string(raw))
	require.Equal(h.t, before, h.executions())
	calls := h.calls()
	require.Equal(h.t, "IGNORED", string(calls[len(calls)-1].Outcome))
	return *calls[len(calls)-1].Reason
}

// Calls that the condition does not let through start nothing and show why. One sent again is judged anew.
func TestConditionChoosesCalls(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		high, low := h.signed(`{"level":"high"}`), h.signed(`{"level":"low"}`)
		h.take(high)
		require.Equal(t, "The condition is not met.", h.ignored(low))
		require.Equal(t, "The condition is not met.", h.ignored(h.signed(`{}`)))
		require.Equal(t, "The condition is not met.", h.ignored(h.signed(`{"level":null}`)))
		require.Contains(t, h.ignored(h.signed(`[1]`)), "The condition could not be evaluated: ")
		calls := h.calls()

		again := testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: calls[1].ID})
		require.Equal(t, []any{"IGNORED", "The condition is not met.", calls[1].ID}, []any{string(again.Outcome), *again.Reason, *again.ReplayOf})
		require.Nil(t, again.ExecutionID)
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, When: op.SetTo(`webhook.body.level == "low"`)})
		again = testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: calls[1].ID})
		require.Equal(t, "ACCEPTED", string(again.Outcome))
		require.NotNil(t, again.ExecutionID)
		again = testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: calls[0].ID})
		require.Equal(t, "IGNORED", string(again.Outcome), "what had started something is judged anew, too")
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, When: op.Clear[string]()})
		h.take(h.signed(`{}`))
	}, withWhen(`webhook.body.level == "high"`))
}

// A call with a key that has started something gets its first answer again, whatever the condition says today; one that was ignored is
// judged again.
func TestConditionAndRepetitions(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		call := h.signed(`{"level":"high"}`)
		call.Header.Set("Idempotency-Key", "one")
		first := h.take(call)
		other := h.signed(`{"level":"low"}`)
		other.Header.Set("Idempotency-Key", "two")
		h.ignored(other)
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, When: op.SetTo(`webhook.body.level == "low"`)})
		require.Equal(t, first, h.take(call))
		h.take(other)
		var outcomes []string
		for _, c := range h.calls() {
			outcomes = append(outcomes, string(c.Outcome))
		}
		require.Equal(t, []string{"ACCEPTED", "IGNORED", "DUPLICATE", "ACCEPTED"}, outcomes)
	}, withWhen(`webhook.body.level == "high"`))
}

// An ignored call of 60 KiB can be sent again. A condition that loops takes its turn, and is cut off.
func TestConditionsAreBounded(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		long := `{"pad":"` + strings.Repeat("x", 58_000) + `","n":[` + strings.Repeat("1,", 600) + `1]}`
		require.Equal(t, "The condition is not met.", h.ignored(h.signed(long)))
		call := h.calls()[0]
		require.Equal(t, long, call.Body)
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{
			ByID: op.ByID{ID: h.issued.ID}, When: op.SetTo(`webhook.body.n.all(a, webhook.body.n.all(b, a == b))`),
		})
		again := testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: call.ID})
		require.Equal(t, "IGNORED", string(again.Outcome))
		require.Contains(t, *again.Reason, "The condition could not be evaluated: ")
	}, withWhen(`webhook.body.n.exists(x, x > 1.0)`))
}

// Conditions and settings of signatures are checked when they are saved, and the faults name the field.
func TestConditionsAndSettingsAreChecked(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w)
		for name, c := range map[string]struct {
			raw    string
			fields []string
		}{
			"another variable":    {`{"when":"request.title == 'x'"}`, []string{"when"}},
			"no truth value":      {`{"when":"webhook.method"}`, []string{"when"}},
			"unknown sender":      {`{"preset":"fax"}`, []string{"preset"}},
			"a header is needed":  {`{"signatureStyle":"header"}`, []string{"signature.header"}},
			"no header's name":    {`{"signatureStyle":"header","signature":{"header":"a b"}}`, []string{"signature.header"}},
			"a name is needed":    {`{"signatureStyle":"basic","signature":{}}`, []string{"signature.username"}},
			"too much":            {`{"signatureStyle":"bearer","signature":{"encoding":"hex","username":"x"}}`, []string{"signature.encoding", "signature.username"}},
			"none is taken":       {`{"signature":{"prefix":"v1="}}`, []string{"signature.prefix"}},
			"a topic is needed":   {`{"signatureStyle":"sns"}`, []string{"signature.topicArn"}},
			"no topic":            {`{"signatureStyle":"sns","signature":{"topicArn":"alarms"}}`, []string{"signature.topicArn"}},
			"a service is no one": {`{"offeringId":"` + h.offering.ID + `","fieldMapping":{"serviceId":"webhook.body.s"}}`, []string{"fieldMapping.serviceId"}},
		} {
			in := inbound.UpdateWebhookInput{}
			require.NoError(t, json.Unmarshal([]byte(c.raw), &in), name)
			in.ID = h.issued.ID
			_, _, err := op.Run(h.ctx, h.Engine, inbound.UpdateWebhook, in, nil)
			require.Equal(t, apperr.Validation, apperr.CodeOf(err), "%s: %v", name, err)
			var fields []string
			for _, d := range apperr.From(err).Details {
				fields = append(fields, d.Field)
			}
			require.Equal(t, c.fields, fields, name)
		}
	})
}

// A request has what the mapping says of it: a person of the company by their address, tags of any label, a description that is not
// there. An address that nobody has counts for nothing.
func TestMappingOfDescriptionTagsAndRequester(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		for _, c := range []struct {
			sent, description, requester string
			tags                         map[string]string
		}{
			{`{"host":"a","text":"It burns.","who":" ` + strings.ToUpper(h.A.Owner.Email) + `","labels":"kind: bug, Größe=L,,good first issue"}`, "It burns.", h.A.Owner.ID, map[string]string{"kind": "bug", "Gro-e": "L", "good-first-issue": ""}},
			{`{"host":"a","text":null,"who":"nobody@elsewhere.test","labels":["x","y"]}`, "", h.issued.ID, map[string]string{"x": "", "y": ""}},
			{`{"host":"a","who":4,"labels":null}`, "", h.issued.ID, nil},
			{`{"host":"a","text":"` + strings.Repeat("ü", 10_001) + `","who":{}}`, strings.Repeat("ü", 9_999) + "…", h.issued.ID, nil},
		} {
			e := h.at(h.take(h.signed(c.sent)).ExecutionID, "COMPLETED")
			r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
			require.NoError(t, err)
			require.Equal(t, []any{c.description, c.requester}, []any{r.Description, r.RequesterID})
			sameTags(t, c.tags, r.Tags)
		}
	}, withOffering(body{
		"description": "webhook.body.text", "requesterEmail": "webhook.body.who", "tags": "webhook.body.labels", "fields": body{"host": "webhook.body.host"},
	}))
}

// sameTags compares tags; none is none, however it is stored.
func sameTags(t testing.TB, want, got map[string]string, about ...any) {
	t.Helper()
	require.Len(t, got, len(want), about...)
	for key, value := range want {
		require.Contains(t, got, key, about...)
		require.Equal(t, value, got[key], about...)
	}
}
