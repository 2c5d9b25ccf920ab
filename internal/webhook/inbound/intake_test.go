package inbound_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/internal/op"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow/execution"
)

var alert = body{
	"title": `webhook.body.name + " on " + webhook.body.host`, "priority": `webhook.body.load > 10.0 ? "URGENT" : "HIGH"`,
	"fields": body{"host": "webhook.body.host", "load": "webhook.body.load"},
}

// A call of a webhook with an offering files a request by the mapping; only that call's execution processes it.
func TestCallsFileRequests(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		a := h.take(h.signed(`{"name":"Disk","host":"db-1","load":12.50}`))
		e := h.at(a.ExecutionID, "COMPLETED")
		require.NotNil(t, e.RequestID)
		r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
		require.NoError(t, err)
		require.Equal(t, "Disk on db-1", r.Title)
		require.Equal(t, "URGENT", string(r.Priority))
		require.JSONEq(t, `{"host":"db-1","load":12.50}`, string(r.Fields))
		require.Contains(t, string(r.Fields), "12.50", "as it was sent")
		require.Equal(t, h.issued.ID, r.CreatedBy)
		require.Equal(t, a.ExecutionID, *r.ExecutionID)
		require.Equal(t, 1, h.executions(), "the offering's own workflow is not started as well")
		entries := h.audited("request.created")
		require.Len(t, entries, 1)
		require.Equal(t, h.issued.ID, entries[0].ActorID)
	}, withOffering(alert))
}

// What PostgreSQL cannot store is an escape before a workflow reads it, so that no execution hangs on it, and so is half a surrogate pair.
func TestNULIsEscaped(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		e := h.at(h.take(h.signed(`{"name":"Di\u0000sk \ud83d","host":"db\u0000-1","load":1,"a\u0000":"b"}`)).ExecutionID, "COMPLETED")
		r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
		require.NoError(t, err)
		require.Equal(t, `Di\x00sk \ud83d on db\x00-1`, r.Title)
		require.JSONEq(t, `{"host":"db\\x00-1","load":1}`, string(r.Fields))
	}, withOffering(alert))
}

// A request whose answers the form refuses is an incident. Without a title in the mapping it has the webhook's name.
func TestRefusedRequestsAreIncidents(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		a := h.take(h.signed(`{"system":"","host":"db-1"}`))
		i := h.incident(a.ExecutionID)
		require.Equal(t, "begin", i.PhaseID)
		require.Equal(t, "request_refused", i.Code)
		require.Contains(t, i.Message, "fields.host")

		// Retrying it unchanged fails again. It succeeds with other values, or after the webhook was corrected.
		h.resolve(i, "RETRY", nil)
		again := h.incident(a.ExecutionID)
		require.NotEqual(t, i.ID, again.ID)
		h.resolve(again, "RETRY", body{"begin": body{"title": "By hand", "priority": "LOW", "fields": body{"host": "x"}}})
		e := h.at(a.ExecutionID, "COMPLETED")
		r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
		require.NoError(t, err)
		require.Equal(t, "By hand", r.Title)
		require.Equal(t, "LOW", string(r.Priority))

		b := h.take(h.signed(`{"system":"","host":"db-2"}`))
		i = h.incident(b.ExecutionID)
		testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, FieldMapping: op.SetTo(*mapping(t, body{"fields": body{"host": "webhook.body.host"}}))})
		h.resolve(i, "RETRY", nil)
		e = h.at(b.ExecutionID, "COMPLETED")
		r, err = h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
		require.NoError(t, err)
		require.Equal(t, "Monitoring", r.Title)
		require.JSONEq(t, `{"host":"db-2"}`, string(r.Fields))

		// A call that the mapping cannot read can be skipped.
		c := h.take(h.signed(`["nothing"]`))
		i = h.incident(c.ExecutionID)
		require.Equal(t, "expression_failed", i.Code)
		require.Contains(t, i.Message, "fields.host")
		h.resolve(i, "SKIP", nil)
		require.Nil(t, h.at(c.ExecutionID, "COMPLETED").RequestID)
	}, withOffering(body{"fields": body{"host": "webhook.body.system"}}))
}

// A title that requests cannot have loses no call: a longer one is cut, and one that is absent or shows nothing is the webhook's name. So
// is a priority that the call does not have the usual one.
func TestTitlesThatRequestsCannotHave(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		h.work()
		for sent, want := range map[string]string{
			`{"title":"` + strings.Repeat("é", 400) + `"}`: strings.Repeat("é", 299) + "…",
			`{"title":"` + strings.Repeat("é", 300) + `"}`: strings.Repeat("é", 300),
			`{"title":" \u00a0\u200b"}`:                    "Monitoring",
			`{"title":""}`:                                 "Monitoring",
			`{}`:                                           "Monitoring",
		} {
			e := h.at(h.take(h.signed(sent)).ExecutionID, "COMPLETED")
			r, err := h.Store.Reader().Request.Get(h.ctx, *e.RequestID)
			require.NoError(t, err)
			require.Equal(t, want, r.Title, sent)
			require.Equal(t, "MEDIUM", string(r.Priority), sent)
		}
	}, withOffering(body{"title": "webhook.body.title", "priority": "webhook.body.priority", "fields": body{"host": `"db-1"`}}))
}

// incident waits for the execution's open incident.
func (h *hook) incident(executionID string) *ent.Incident {
	h.t.Helper()
	var row *ent.Incident
	require.Eventually(h.t, func() bool {
		var err error
		row, err = h.Store.Reader().Incident.Query().Where(incident.ExecutionID(executionID), incident.StatusEQ(incident.StatusOPEN)).Only(h.ctx)
		return err == nil
	}, patience, tick)
	return row
}

func (h *hook) resolve(i *ent.Incident, action string, variables body) {
	h.t.Helper()
	testkit.Run(h.t, h.World, h.ctx, execution.ResolveIncident, execution.ResolveIncidentInput{ByID: op.ByID{ID: i.ID}, Action: action, Variables: variables})
}
