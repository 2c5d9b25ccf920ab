package inbound_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/signing"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
)

// Any JSON value starts the workflow, which reads the whole value, with the digits that were sent.
func TestCallStartsTheWorkflow(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		for _, text := range []string{
			`{"n": 123456789012345678, "deep": [1.50, {"x": null}], "t": "<é>"}`, `[1, 2.0, "three"]`, `"text"`, `12345678901234567890`, `true`, `null`, `{}`,
		} {
			a := h.take(h.signed(text))
			require.Equal(t, "accepted", a.Status)
			require.Equal(t, h.issued.ID, a.WebhookID)
			e := h.at(a.ExecutionID, "COMPLETED")
			require.Equal(t, "webhook", string(e.Trigger))
			require.Nil(t, e.RequestID)
			var webhook struct {
				Body       json.RawMessage
				Headers    map[string]string
				Method     string
				ReceivedAt time.Time
			}
			require.NoError(t, json.Unmarshal(e.Webhook, &webhook))
			require.Equal(t, "POST", webhook.Method)
			require.False(t, webhook.ReceivedAt.IsZero())
			require.Equal(t, map[string]string{"content-type": "application/json", "x-source": "Probe"}, webhook.Headers, "neither signature nor authorization")
			variables, err := execution.Variables(e)
			require.NoError(t, err)
			var v struct {
				Webhook struct{ Body json.RawMessage }
				Phases  struct {
					Keep struct{ Body, Method json.RawMessage }
				}
			}
			require.NoError(t, json.Unmarshal(variables, &v))
			want := compact(t, text)
			require.Equal(t, want, compact(t, string(webhook.Body)))
			require.Equal(t, want, compact(t, string(v.Webhook.Body)))
			if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || strings.HasPrefix(text, "1") {
				require.Equal(t, want, compact(t, string(v.Phases.Keep.Body)), "as an expression that names it reads it")
			}
		}
		calls := h.calls()
		require.Len(t, calls, 7)
		require.Equal(t, "***", calls[0].Headers["x-webhook-signature"])
		require.Equal(t, "***", calls[0].Headers["authorization"])
		require.Equal(t, "Probe", calls[0].Headers["x-source"])
		require.Equal(t, `[1, 2.0, "three"]`, calls[1].Body)
	})
}

// compact returns JSON without unnecessary blanks and escapes.
func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return out.String()
}

// A call without a valid signature starts nothing, and leaves only an audit entry.
func TestUnsignedCallsLeaveAnEntryAlone(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		unsigned := h.signed(`{}`)
		unsigned.Header.Del("X-Webhook-Signature")
		wrong := h.signed(`{}`)
		wrong.Body = []byte(`{"x":1}`)
		for _, c := range []inbound.Call{unsigned, wrong} {
			require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(c)))
		}
		require.Empty(t, h.calls())
		require.Zero(t, h.executions())
		entries := h.audited("inboundwebhook.called")
		require.Len(t, entries, 2)
		require.Equal(t, auditentry.OutcomeDenied, entries[0].Outcome)
		require.Equal(t, h.issued.ID, *entries[0].ResourceID)

		for range inbound.RefusedEntries + 5 {
			require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(unsigned)))
		}
		require.Len(t, h.audited("inboundwebhook.called"), inbound.RefusedEntries, "a flood leaves some")
		h.take(h.signed(`{}`)) // calls of the sender are still accepted
	})
}

func (h *hook) audited(action string) []*ent.AuditEntry {
	h.t.Helper()
	list, err := h.Store.Reader().AuditEntry.Query().Where(auditentry.Action(action)).All(h.ctx)
	require.NoError(h.t, err)
	return list
}

// Webhooks that do not exist, were deleted or are disabled give the same error, signed or not.
func TestMissingWebhooksAreAlike(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		call := h.signed(`{}`)
		unknown := call
		unknown.WebhookID = "whi_01k9ye4ryzf7stj6dqnm8x2v3b"
		odd := call
		odd.WebhookID = "\x00" + strings.Repeat("x", 300)
		first := h.refused(unknown)
		require.Equal(t, apperr.NotFound, apperr.CodeOf(first))
		require.Equal(t, first.Error(), h.refused(odd).Error())

		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, Enabled: op.SetTo(false)})
		unsigned := inbound.Call{WebhookID: h.issued.ID, Body: []byte(`{}`), Header: http.Header{}}
		require.Equal(t, first.Error(), h.refused(call).Error())
		require.Equal(t, first.Error(), h.refused(unsigned).Error())
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, Enabled: op.SetTo(true)})
		h.take(call)
		testkit.Run(t, h.World, h.ctx, inbound.DeleteWebhook, op.ByID{ID: h.issued.ID})
		require.Equal(t, first.Error(), h.refused(call).Error())
		require.Equal(t, 1, h.executions(), "what was started stays")
	})
}

// Both secrets verify while they overlap, and only the new one after that.
func TestRotationOverlaps(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		old := h.signed(`{}`)
		seconds := 60
		h.issued = testkit.Run(t, h.World, h.ctx, inbound.RotateSecret, inbound.RotateSecretInput{ByID: op.ByID{ID: h.issued.ID}, Overlap: signing.Overlap{OverlapSeconds: &seconds}})
		h.take(old)
		h.take(h.signed(`{}`))
		h.Clock.SetOffset(h.Clock.Offset() + time.Minute)
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(old)))
		h.take(h.signed(`{}`))

		none := 0
		chosen := secret.Value("a secret that the sender chose")
		h.issued = testkit.Run(t, h.World, h.ctx, inbound.RotateSecret, inbound.RotateSecretInput{ByID: op.ByID{ID: h.issued.ID}, Overlap: signing.Overlap{OverlapSeconds: &none}, SigningSecret: &chosen})
		require.Equal(t, chosen, h.issued.SigningSecret)
		h.take(h.signed(`{}`))
	})
}

// Sixty-four concurrent calls with one key, at two nodes, start one execution and get one answer; so does a later call.
func TestRepetitionsStartOneExecution(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		second, err := inbound.NewDoor(h.Node(t).Engine, ratelimit.NewMemory(), nil, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		doors := []*inbound.Door{h.door, second}
		if h.Store.Path() != "" {
			doors = doors[:1] // on SQLite there is one node
		}
		for _, header := range []string{"webhook-id", "Idempotency-Key"} {
			answers := make([]any, 64)
			errs := make([]error, len(answers))
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					c := h.signed(`{"n":1}`)
					c.Header.Set(header, "delivery-1")
					answers[i], errs[i] = doors[i%len(doors)].Take(context.Background(), c)
				})
			}
			wg.Wait()
			for i := range answers {
				require.NoError(t, errs[i])
				require.Equal(t, answers[0], answers[i])
			}
		}
		require.Equal(t, 2, h.executions(), "one a header: they are no names of one another")
		var accepted int
		for _, c := range h.calls() {
			if c.Outcome == "ACCEPTED" {
				accepted++
			}
		}
		require.Equal(t, 2, accepted)
		require.Len(t, h.calls(), 128)

		first := h.signed(`{"n":1}`)
		first.Header.Set("webhook-id", "delivery-1")
		h.Clock.SetOffset(h.Clock.Offset() + 60*24*time.Hour)
		h.take(first)
		require.Equal(t, 2, h.executions(), "months later")
		first.Header.Set("webhook-id", "delivery-2")
		h.take(first)
		h.take(h.signed(`{"n":1}`))
		h.take(h.signed(`{"n":1}`))
		require.Equal(t, 5, h.executions(), "another key, and calls without one")
		first.Header.Set("webhook-id", strings.Repeat("x", 256))
		require.Equal(t, "webhook-id", apperr.From(h.refused(first)).Details[0].Field)
	})
}

// A signed event id takes precedence over headers, which somebody else could change.
func TestSignedIDsCountFirst(t *testing.T) {
	secretOf := func(style string) func(*hook, *inbound.CreateWebhookInput) {
		return func(_ *hook, in *inbound.CreateWebhookInput) { in.SignatureStyle = &style }
	}
	each(t, func(t *testing.T, h *hook) {
		now := time.Now()
		text := `{"id":"evt_1"}`
		call := func(key string) inbound.Call {
			at := strconv.FormatInt(now.Unix(), 10)
			return inbound.Call{WebhookID: h.issued.ID, Body: []byte(text), Header: http.Header{
				"Content-Type": {"application/json"}, "Stripe-Signature": {"t=" + at + ",v1=" + hexMAC(string(h.issued.SigningSecret), at+"."+text)}, "Idempotency-Key": {key},
			}}
		}
		require.Equal(t, h.take(call("a")), h.take(call("b")))
		require.Equal(t, 1, h.executions())
		h.door.At(now.Add(6 * time.Minute))
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(call("a"))), "a replay after the window")
	}, secretOf("stripe"))
}

// Slack verifies an address by a challenge; answering it starts nothing.
func TestSlacksChallenge(t *testing.T) {
	style := "slack"
	each(t, func(t *testing.T, h *hook) {
		text, at := `{"type":"url_verification","challenge":"3eZbrw1a"}`, strconv.FormatInt(time.Now().Unix(), 10)
		c := inbound.Call{WebhookID: h.issued.ID, Body: []byte(text), Header: http.Header{
			"Content-Type": {"application/json"}, "X-Slack-Request-Timestamp": {at}, "X-Slack-Signature": {"v0=" + hexMAC(string(h.issued.SigningSecret), "v0:"+at+":"+text)},
		}}
		out, err := h.door.Take(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, inbound.Challenge{Challenge: "3eZbrw1a"}, out)
		require.Zero(t, h.executions())
		c.Header.Set("X-Slack-Signature", "v0="+strings.Repeat("0", 64))
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(c)))

		// A form in another charset is refused: nobody could tell what was written.
		for form, says := range map[string]string{"text=Zo%EB": "not in UTF-8", "Zo%EB=text": "not in UTF-8"} {
			c.Body = []byte(form)
			c.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			c.Header.Set("X-Slack-Signature", "v0="+hexMAC(string(h.issued.SigningSecret), "v0:"+at+":"+form))
			err := apperr.From(h.refused(c))
			require.Equal(t, apperr.Validation, err.Code)
			require.Contains(t, err.Details[0].Message, says)
		}
	}, func(_ *hook, in *inbound.CreateWebhookInput) { in.SignatureStyle = &style })
}

// Without verification anybody can start the workflow, and the webhook has a warning.
func TestVerificationCanBeSwitchedOff(t *testing.T) {
	off := false
	each(t, func(t *testing.T, h *hook) {
		require.NotNil(t, inbound.Warning(h.issued.Webhook))
		h.take(inbound.Call{WebhookID: h.issued.ID, Body: []byte(`1`), Header: http.Header{"Content-Type": {"application/json"}}})
		w := testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, VerifySignature: op.SetTo(true)})
		require.Nil(t, inbound.Warning(w))
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(inbound.Call{WebhookID: h.issued.ID, Body: []byte(`1`), Header: http.Header{}})))
	}, func(_ *hook, in *inbound.CreateWebhookInput) { in.VerifySignature = &off })
}

// A body that is not JSON, and a workflow that is not active, are errors of the sender: the history tells the reason.
func TestRejectedCallsAreNoted(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		for _, text := range []string{``, `{`, `{"a":1,"a":2}`, "\ufeff", "\"\xff\"", strings.Repeat("[", 101) + strings.Repeat("]", 101), `1e999`} {
			err := apperr.From(h.refused(h.signed(text)))
			require.Equal(t, apperr.Validation, err.Code, "%q", text)
			require.Equal(t, "body", err.Details[0].Field)
		}
		h.archive()
		require.Equal(t, apperr.Conflict, apperr.CodeOf(h.refused(h.signed(`{}`))))
		calls := h.calls()
		require.Len(t, calls, 8)
		for _, c := range calls {
			require.Equal(t, "REJECTED", string(c.Outcome))
			require.NotEmpty(t, *c.Reason)
			require.Nil(t, c.ExecutionID)
		}
		require.Zero(t, h.executions())
	})
}

// JSON has several media types and spellings of UTF-8, and may begin with a byte-order mark and hold half a surrogate pair.
func TestAnyJSONIsTaken(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		for kind, text := range map[string]string{
			"application/json; charset=utf8": `{"t":"one"}`, `text/json; charset="UTF-8"`: `{"t":"two"}`, "application/vnd.api+json": `{"t":"three"}`,
			"application/cloudevents+json; charset=unicode-1-1-utf-8": `{"t":"four"}`, "Application/JSON; charset": `{"t":"five"}`,
			"application/json": "\ufeff" + `{"t":"six \ud83d \ude00 \ud83d\ude00","\udc00":1}`,
		} {
			c := h.signed(text)
			c.Header.Set("Content-Type", kind)
			e := h.at(h.take(c).ExecutionID, "COMPLETED")
			var webhook struct{ Body json.RawMessage }
			require.NoError(t, json.Unmarshal(e.Webhook, &webhook))
			want := strings.TrimPrefix(text, "\ufeff")
			require.Equal(t, want, string(webhook.Body), kind)
			variables, err := execution.Variables(e)
			require.NoError(t, err)
			require.Contains(t, string(variables), want, kind)
		}
		for _, c := range h.calls() {
			again := testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: c.ID})
			h.at(*again.ExecutionID, "COMPLETED")
		}
	})
}

// GitHub sends a form unless it is told otherwise. Other styles have no forms.
func TestGithubsForm(t *testing.T) {
	style := "github"
	each(t, func(t *testing.T, h *hook) {
		h.work()
		call := func(text string) inbound.Call {
			return inbound.Call{WebhookID: h.issued.ID, Body: []byte(text), Header: http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"}, "X-Hub-Signature-256": {"sha256=" + hexMAC(string(h.issued.SigningSecret), text)},
			}}
		}
		const form = `payload=%7B%22action%22%3A+%22opened%22%2C%22n%22%3A1.50%7D`
		e := h.at(h.take(call(form)).ExecutionID, "COMPLETED")
		require.Contains(t, string(e.Webhook), `{"action":"opened","n":1.50}`)
		require.Equal(t, form, h.calls()[0].Body)
		for _, bad := range []string{`payload=%7B`, `payload=%zz`, `a=1`} {
			require.Equal(t, apperr.Validation, apperr.CodeOf(h.refused(call(bad))), bad)
		}
		h.archive()
		require.Equal(t, apperr.Conflict, apperr.CodeOf(h.refused(call(form))))
		testkit.Run(t, h.World, h.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: h.workflow.ID}, Status: op.SetTo("active")})
		calls := h.calls()
		again := testkit.Run(t, h.World, h.ctx, inbound.ReplayCall, op.ByID{ID: calls[len(calls)-1].ID})
		require.Contains(t, string(h.at(*again.ExecutionID, "COMPLETED").Webhook), `{"action":"opened","n":1.50}`)

		other := "hex"
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, SignatureStyle: op.SetTo(other)})
		c := call(form)
		c.Header.Set("X-Webhook-Signature", c.Header.Get("X-Hub-Signature-256"))
		require.Equal(t, apperr.UnsupportedMediaType, apperr.CodeOf(h.refused(c)))
	}, func(_ *hook, in *inbound.CreateWebhookInput) { in.SignatureStyle = &style })
}

// Svix names the headers of Standard Webhooks in its own way. The id that is signed is the key, whatever else a caller adds.
func TestSvixHeaders(t *testing.T) {
	style, chosen := "standard", secret.Value("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	each(t, func(t *testing.T, h *hook) {
		wh, err := standardwebhooks.NewWebhook(string(chosen))
		require.NoError(t, err)
		at, text := time.Now(), `{"a":1}`
		signature, err := wh.Sign("msg_1", at, []byte(text))
		require.NoError(t, err)
		c := inbound.Call{WebhookID: h.issued.ID, Body: []byte(text), Header: http.Header{
			"Content-Type": {"application/json"}, "Svix-Id": {"msg_1"}, "Svix-Timestamp": {strconv.FormatInt(at.Unix(), 10)}, "Svix-Signature": {signature},
		}}
		first := h.take(c)
		c.Header.Set("webhook-id", "msg_2")
		require.Equal(t, first, h.take(c))
		c.Header.Set("svix-id", "msg_2")
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(c)))
		c.Header.Set("svix-id", "msg_1")
		c.Header.Set("webhook-signature", signature)
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(c)), "both, of which one is made up")
	}, func(_ *hook, in *inbound.CreateWebhookInput) { in.SignatureStyle, in.SigningSecret = &style, &chosen })
}

// What is refused by its type, encoding or size is in the history, too. Of calls that nobody can verify, few are.
func TestUnreadCallsAreNoted(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		for name, value := range map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip"} {
			c := h.signed(`{}`)
			c.Header.Set(name, value)
			require.Equal(t, apperr.UnsupportedMediaType, apperr.CodeOf(h.refused(c)))
			c.Header.Del("X-Webhook-Signature")
			require.Equal(t, apperr.Unauthorized, apperr.CodeOf(h.refused(c)))
		}
		c := h.signed(`{}`)
		c.Header.Set("Content-Type", "application/json; charset=iso-8859-1")
		require.Equal(t, apperr.UnsupportedMediaType, apperr.CodeOf(h.refused(c)))
		require.Len(t, h.calls(), 3)

		large := apperr.New(apperr.PayloadTooLarge, "The body may have 1 MiB.")
		for range inbound.UnreadCalls + 5 {
			require.Equal(t, error(large), h.door.Unread(context.Background(), inbound.Call{WebhookID: h.issued.ID, Header: http.Header{}}, 1<<40, large))
		}
		calls := h.calls()
		require.Len(t, calls, 3+inbound.UnreadCalls)
		last := calls[len(calls)-1]
		require.Equal(t, "REJECTED", string(last.Outcome))
		require.Equal(t, "The body may have 1 MiB.", *last.Reason)
		require.Equal(t, math.MaxInt32, last.BodyBytes)
		require.Equal(t, error(large), h.door.Unread(context.Background(), inbound.Call{WebhookID: "whi_01k9ye4ryzf7stj6dqnm8x2v3b"}, 0, large))
	})
}

// A company's calls together have the bytes of its plan. What was refused starts nothing.
func TestBytesOfCallsAreLimited(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		require.NoError(t, h.Store.Write(h.ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Company.UpdateOneID(h.A.Company.ID).SetBytesPerMinute(ratelimit.MB).Exec(ctx)
		}))
		large := `"` + strings.Repeat("x", 700_000) + `"`
		_, err := h.door.Take(t.Context(), h.signed(large))
		require.NoError(t, err)
		_, err = h.door.Take(t.Context(), h.signed(large))
		e := apperr.From(err)
		require.Equal(t, apperr.RateLimited, e.Code, err)
		require.Positive(t, e.RetryAfter)
		forged := h.signed(large)
		forged.Header.Set("X-Webhook-Signature", "sha256=00")
		_, err = h.door.Take(t.Context(), forged)
		require.Equal(t, apperr.Unauthorized, apperr.CodeOf(err), "strangers do not use the company's bytes")
	})
}
