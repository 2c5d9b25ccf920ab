package inbound_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/test/testkit"
	"atrium/internal/test/testkit/receiver"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
	"atrium/internal/workflow/execution"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 20 * time.Second
	tick     = 5 * time.Millisecond
)

// body is a JSON object.
type body = map[string]any

// hook is a world in which company A has a workflow that an inbound webhook starts.
type hook struct {
	*testkit.World
	t        testing.TB
	ctx      context.Context // of the owner
	door     *inbound.Door
	workflow *ent.Workflow
	service  *ent.Service
	offering *ent.Offering // with a form
	issued   inbound.Issued
}

// simple is a workflow that stores what it was called with.
var simple = body{
	"phases": []body{
		{"id": "begin", "type": "START"},
		{"id": "keep", "type": "DATA", "config": body{"kind": "enrich", "set": body{"body": "webhook.body", "method": "webhook.method"}}},
		{"id": "done", "type": "END"},
	},
	"transitions": []body{{"from": "begin", "name": "next", "to": "keep"}, {"from": "keep", "name": "next", "to": "done"}},
}

// open makes the workflow, an offering, and a webhook, which change may modify.
func open(t testing.TB, w *testkit.World, change ...func(*hook, *inbound.CreateWebhookInput)) *hook {
	t.Helper()
	h := &hook{World: w, t: t, ctx: w.As(w.A, principal.Owner)}
	raw, err := json.Marshal(simple)
	require.NoError(t, err)
	h.workflow = testkit.Run(t, w, h.ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Alerts", Definition: workflow.NewDefinition(raw)})
	h.workflow = testkit.Run(t, w, h.ctx, workflow.PublishWorkflow, op.ByID{ID: h.workflow.ID})
	h.service = testkit.Run(t, w, h.ctx, catalog.CreateService, catalog.CreateServiceInput{Name: "IT"})
	h.offering = testkit.Run(t, w, h.ctx, catalog.CreateOffering, catalog.CreateOfferingInput{
		ByID: op.ByID{ID: h.service.ID}, Name: "Alert", WorkflowID: &h.workflow.ID,
		Form: &form.Definition{Fields: []form.Field{{Key: "host", Label: "Host", Type: "text", Required: true}, {Key: "load", Label: "Load", Type: "number"}, {Key: "log", Type: "file"}}},
	})
	h.door, err = inbound.NewDoor(w.Engine, ratelimit.NewMemory(), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	in := inbound.CreateWebhookInput{Name: "Monitoring", WorkflowID: h.workflow.ID, Headers: []string{"Content-Type", "X-Source"}}
	for _, c := range change {
		c(h, &in)
	}
	h.issued = testkit.Run(t, w, h.ctx, inbound.CreateWebhook, in)
	return h
}

// each runs fn on SQLite and on PostgreSQL.
func each(t *testing.T, fn func(t *testing.T, h *hook), change ...func(*hook, *inbound.CreateWebhookInput)) {
	t.Helper()
	t.Parallel()
	testkit.Each(t, func(t *testing.T, w *testkit.World) { fn(t, open(t, w, change...)) })
}

// mapping reads a field mapping.
func mapping(t testing.TB, v any) *inbound.Mapping {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	var m inbound.Mapping
	require.NoError(t, json.Unmarshal(raw, &m))
	return &m
}

// withOffering makes each call file a request with the mapping.
func withOffering(m any) func(*hook, *inbound.CreateWebhookInput) {
	return func(h *hook, in *inbound.CreateWebhookInput) {
		in.OfferingID = &h.offering.ID
		if m != nil {
			in.FieldMapping = mapping(h.t, m)
		}
	}
}

// signed returns a call that is signed in the style hex.
func (h *hook) signed(text string) inbound.Call {
	return inbound.Call{
		WebhookID: h.issued.ID, Body: []byte(text), Header: http.Header{
			"Content-Type": {"application/json"}, "X-Source": {"Probe"}, "Authorization": {"Bearer zzz"},
			"X-Webhook-Signature": {"sha256=" + hexMAC(string(h.issued.SigningSecret), text)},
		},
	}
}

// take sends a call, which must be accepted.
func (h *hook) take(c inbound.Call) inbound.Accepted {
	h.t.Helper()
	out, err := h.door.Take(context.Background(), c)
	require.NoError(h.t, err)
	a, ok := out.(inbound.Accepted)
	require.True(h.t, ok)
	return a
}

// refused sends a call, which must be refused, and returns the error.
func (h *hook) refused(c inbound.Call) error {
	h.t.Helper()
	out, err := h.door.Take(context.Background(), c)
	require.Error(h.t, err, "%v", out)
	return err
}

// work runs executions until the test ends.
func (h *hook) work() {
	h.t.Helper()
	h.WorkJobs(h.t, execution.New(execution.Options{Engine: h.Engine, Egress: receiver.Client(h.t, 0)}).Work())
}

// at waits until an execution has a status.
func (h *hook) at(id, status string) *ent.Execution {
	h.t.Helper()
	var row *ent.Execution
	reached := assert.Eventually(h.t, func() bool {
		var err error
		row, err = h.Store.Reader().Execution.Get(h.ctx, id)
		require.NoError(h.t, err)
		return string(row.Status) == status
	}, patience, tick)
	require.True(h.t, reached, "%s, not %s: %s %s", row.Status, status, row.Error, row.State)
	return row
}

// calls returns the webhook's history, the oldest first.
func (h *hook) calls() []*ent.InboundCall {
	h.t.Helper()
	list, err := h.Store.Reader().InboundCall.Query().Where(inboundcall.WebhookID(h.issued.ID)).Order(inboundcall.ByCreatedAt(), inboundcall.ByID()).All(h.ctx)
	require.NoError(h.t, err)
	return list
}

// executions counts the company's executions.
func (h *hook) executions() int {
	h.t.Helper()
	n, err := h.Store.Reader().Execution.Query().Count(h.ctx)
	require.NoError(h.t, err)
	return n
}

// archive archives the webhook's workflow.
func (h *hook) archive() {
	h.t.Helper()
	testkit.Run(h.t, h.World, h.ctx, workflow.UpdateWorkflow, workflow.UpdateWorkflowInput{ByID: op.ByID{ID: h.workflow.ID}, Status: op.SetTo("archived")})
}
