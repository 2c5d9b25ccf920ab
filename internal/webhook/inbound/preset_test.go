package inbound_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/webhook/preset"
)

// made makes a webhook as the console makes one of a preset: each call files a request against an offering without questions.
func (h *hook) made(p *preset.Preset) {
	h.t.Helper()
	free := testkit.Run(h.t, h.World, h.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
		ByID: op.ByID{ID: h.service.ID}, Name: "Anything " + p.Key, WorkflowID: &h.workflow.ID,
	})
	in := inbound.CreateWebhookInput{
		Name: p.Key, WorkflowID: h.workflow.ID, OfferingID: &free.ID, FieldMapping: mapping(h.t, p.Mapping), Headers: p.Headers,
		Preset: &p.Key, SignatureStyle: &p.Style, Signature: p.Signature, SigningSecret: new(secret.Value("the secret of " + p.Key)),
	}
	if p.When != "" {
		in.When = &p.When
	}
	h.issued = testkit.Run(h.t, h.World, h.ctx, inbound.CreateWebhook, in)
}

// arriving returns a call as a sender sends it, with one of its bodies.
func (h *hook) arriving(p *preset.Preset, raw string, event ...string) inbound.Call {
	c := inbound.Call{WebhookID: h.issued.ID, Body: []byte(raw), Header: http.Header{}}
	for name, value := range p.Sample.Headers {
		c.Header.Set(name, value)
	}
	for i := 0; i+1 < len(event); i += 2 {
		c.Header.Set(event[i], event[i+1])
	}
	if p.Key == "slack_command" && raw[0] == '{' && len(event) == 0 {
		var fields map[string]string
		require.NoError(h.t, json.Unmarshal([]byte(raw), &fields))
		form := url.Values{"token": {"an old token"}}
		for name, value := range fields {
			form.Set(name, value)
		}
		c.Body = []byte(form.Encode())
	}
	h.sign(p, &c)
	return c
}

// sign signs a call as the sender does.
func (h *hook) sign(p *preset.Preset, c *inbound.Call) {
	key, body, now := string(h.issued.SigningSecret), string(c.Body), strconv.FormatInt(time.Now().Unix(), 10)
	switch p.Key {
	case "github_issues", "github_alerts":
		c.Header.Set("X-Hub-Signature-256", "sha256="+hexMAC(key, body))
	case "jira":
		c.Header.Set("X-Hub-Signature", "sha256="+hexMAC(key, body))
	case "gitlab":
		c.Header.Set("X-Gitlab-Token", key)
	case "alertmanager":
		c.Header.Set("Authorization", "Bearer "+key)
	case "grafana":
		c.Header.Set("X-Grafana-Alerting-Signature", hexMAC(key, body))
	case "sentry":
		c.Header.Set("Sentry-Hook-Signature", hexMAC(key, body))
	case "pagerduty":
		c.Header.Set("X-Pagerduty-Signature", "v1="+hexMAC(key, body))
	case "stripe":
		c.Header.Set("Stripe-Signature", "t="+now+",v1="+hexMAC(key, now+"."+body))
	case "slack_command":
		c.Header.Set("X-Slack-Request-Timestamp", now)
		c.Header.Set("X-Slack-Signature", "v0="+hexMAC(key, "v0:"+now+":"+body))
	default:
		c.Header.Set("X-Webhook-Signature", "sha256="+hexMAC(key, body))
	}
}

// worth is what becomes of the sample of each sender, and a call of it that starts nothing.
var worth = map[string]struct {
	title, priority string
	tags            map[string]string
	other           string   // a body that is not worth a request
	event           []string // headers of that call
}{
	"github_issues": {"Printer on floor 3 is on fire", "MEDIUM", map[string]string{"good-first-issue": "", "hardware": ""}, `{"action":"closed","issue":{"number":12}}`, []string{"X-GitHub-Delivery", "another"}},
	"github_alerts": {"acme/printers: Prototype pollution in lodash", "HIGH", map[string]string{"security": "", "dependabot_alert": ""}, `{"zen":"Keep it logically awesome.","hook_id":1}`, []string{"X-GitHub-Event", "ping"}},
	"gitlab":        {"New laptop does not start", "MEDIUM", map[string]string{"hardware": ""}, `{"object_kind":"issue","object_attributes":{"action":"close"}}`, nil},
	"sentry":        {"TypeError: amount is undefined", "MEDIUM", nil, `{"action":"created","installation":{"uuid":"x"}}`, []string{"Sentry-Hook-Resource", "installation"}},
	"jira":          {"HELP-7: VPN does not connect", "HIGH", map[string]string{"network": "", "vpn": ""}, `{"webhookEvent":"jira:issue_deleted"}`, []string{"X-Atlassian-Webhook-Identifier", "another"}},
	"pagerduty":     {"Checkout answers with errors", "HIGH", map[string]string{"Checkout": ""}, `{"event":{"id":"01","event_type":"pagey.ping","data":{"message":"Hello from your friend Pagey!"}}}`, nil},
	"alertmanager":  {"DiskFull", "HIGH", map[string]string{"alertname": "DiskFull", "instance": "db-1", "severity": "critical"}, `{"status":"resolved","commonLabels":{}}`, nil},
	"grafana":       {"[FIRING:1] DiskFull (db-1)", "HIGH", map[string]string{"alertname": "DiskFull", "instance": "db-1", "severity": "critical"}, `{"status":"resolved","commonLabels":{}}`, nil},
	"stripe":        {"charge.dispute.created: dp_1MhUT8E0b6fckueS1vsEJH9l", "HIGH", nil, `{"id":"evt_2","type":"customer.created"}`, nil},
	"slack_command": {"My laptop does not start", "MEDIUM", map[string]string{"slack": ""}, `{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRN"}`, []string{"Content-Type", "application/json"}},
	"generic":       {"Printer on floor 3 is empty", "MEDIUM", map[string]string{"printer": "", "floor-3": ""}, "", nil},
}

// A webhook that is made of a preset takes what its sender sends, as the sender signs it: the sample files a request, a ping or a call
// of another kind shows as ignored and starts nothing.
func TestPresetsTakeTheirSenders(t *testing.T) {
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) {
		h := open(t, w)
		h.work()
		require.Len(t, worth, len(preset.All))
		for _, p := range preset.All {
			h.made(p)
			h.files(p)
			h.ignores(p)
		}
	})
}

func (h *hook) files(p *preset.Preset) {
	h.t.Helper()
	want := worth[p.Key]
	out, err := h.door.Take(context.Background(), h.arriving(p, string(p.Sample.Body)))
	require.NoError(h.t, err, p.Key)
	if p.Key == "slack_command" {
		require.Equal(h.t, inbound.Said{ResponseType: "ephemeral", Text: "Thank you, this is on its way."}, out)
	} else {
		require.IsType(h.t, inbound.Accepted{}, out, p.Key)
	}
	call := h.calls()[0]
	require.Equal(h.t, "ACCEPTED", string(call.Outcome), p.Key)
	require.NotContains(h.t, call.Body, "old token")
	for name, value := range call.Headers {
		require.NotContains(h.t, value, "the secret of", "%s: %s", p.Key, name)
	}
	e := h.at(*call.ExecutionID, "COMPLETED")
	require.NotContains(h.t, string(e.Webhook), "the secret of", p.Key)
	r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
	require.NoError(h.t, err)
	require.Equal(h.t, want.title, r.Title, p.Key)
	require.Equal(h.t, want.priority, string(r.Priority), p.Key)
	sameTags(h.t, want.tags, r.Tags, p.Key)
	require.Equal(h.t, h.issued.ID, r.RequesterID, "%s: nobody has the address", p.Key)

	unsigned := h.arriving(p, string(p.Sample.Body))
	unsigned.Header = http.Header{"Content-Type": unsigned.Header["Content-Type"]}
	require.Equal(h.t, apperr.Unauthorized, apperr.CodeOf(h.refused(unsigned)), p.Key)
}

func (h *hook) ignores(p *preset.Preset) {
	h.t.Helper()
	want := worth[p.Key]
	if want.other == "" {
		return
	}
	before := h.executions()
	out, err := h.door.Take(context.Background(), h.arriving(p, want.other, want.event...))
	require.NoError(h.t, err, p.Key)
	if p.Key == "slack_command" {
		require.Equal(h.t, inbound.Challenge{Challenge: "3eZbrw1aBm2rZgRN"}, out)
	} else {
		require.Equal(h.t, inbound.Ignored{Status: "ignored", WebhookID: h.issued.ID}, out, p.Key)
	}
	require.Equal(h.t, before, h.executions(), p.Key)
	calls := h.calls()
	last := calls[len(calls)-1]
	require.Equal(h.t, "IGNORED", string(last.Outcome), p.Key)
	require.NotEmpty(h.t, *last.Reason, p.Key)
	require.NotContains(h.t, *last.Reason, "could not be evaluated", p.Key)
}
