package inbound_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"atrium/internal/desk/catalog"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
	"atrium/internal/test/testkit"
	"atrium/internal/webhook/inbound"
	"atrium/internal/workflow"
)

// The rows that a webhook refers to must exist, and its mapping must compile and fit the offering's form; errors name the field.
func TestWebhooksAreCheckedWhenSaved(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		draft := testkit.Run(t, h.World, h.ctx, workflow.CreateWorkflow, workflow.CreateWorkflowInput{Name: "Draft", Definition: workflow.NewDefinition([]byte(
			`{"phases":[{"id":"a","type":"START"},{"id":"b","type":"END"}],"transitions":[{"from":"a","name":"next","to":"b"}]}`))})
		foreign := "off_01k9ye4ryzf7stj6dqnm8x2v3b"
		short := secret.Value("short")
		for name, c := range map[string]struct {
			change func(*inbound.CreateWebhookInput)
			fields []string
		}{
			"a draft":             {func(in *inbound.CreateWebhookInput) { in.WorkflowID = draft.ID }, []string{"workflowId"}},
			"no offering of ours": {func(in *inbound.CreateWebhookInput) { in.OfferingID = &foreign }, []string{"offeringId"}},
			"a mapping alone": {func(in *inbound.CreateWebhookInput) {
				in.OfferingID, in.FieldMapping = nil, mapping(t, body{"title": "webhook.body.x"})
			}, []string{"fieldMapping"}},
			"bad expressions": {func(in *inbound.CreateWebhookInput) {
				in.FieldMapping = mapping(t, body{"title": "webhook.", "priority": "1 + 2", "fields": body{"host": "request.id", "load": "secrets.X"}, "tags": "request.tags"})
			}, []string{"fieldMapping.fields.host", "fieldMapping.fields.load", "fieldMapping.priority", "fieldMapping.tags", "fieldMapping.title"}},
			"no field of the form": {func(in *inbound.CreateWebhookInput) {
				in.FieldMapping = mapping(t, body{"fields": body{"host": "webhook.body.h", "colour": "'red'"}})
			}, []string{"fieldMapping.fields.colour"}},
			"a file": {func(in *inbound.CreateWebhookInput) {
				in.FieldMapping = mapping(t, body{"fields": body{"host": "webhook.body.h", "log": "webhook.body.files"}})
			}, []string{"fieldMapping.fields.log"}},
			"a required question left open": {func(in *inbound.CreateWebhookInput) {
				in.FieldMapping = mapping(t, body{"title": "webhook.body.title", "fields": body{"colour": "'red'"}})
			}, []string{"fieldMapping.fields.colour", "fieldMapping.fields.host"}},
			"no mapping where one is needed": {func(in *inbound.CreateWebhookInput) { in.FieldMapping = nil }, []string{"fieldMapping.fields.host"}},
			"no object":                      {func(in *inbound.CreateWebhookInput) { in.FieldMapping = mapping(t, body{"fields": 1}) }, []string{"fieldMapping.fields"}},
			"a short secret":                 {func(in *inbound.CreateWebhookInput) { in.SigningSecret = &short }, []string{"signingSecret"}},
			"too long": {func(in *inbound.CreateWebhookInput) {
				in.FieldMapping = mapping(t, body{"title": "'" + strings.Repeat("x", 5000) + "'"})
			}, []string{"fieldMapping.title"}},
		} {
			in := inbound.CreateWebhookInput{Name: "X", WorkflowID: h.workflow.ID, OfferingID: &h.offering.ID, FieldMapping: mapping(t, body{"fields": body{"host": "webhook.body.h"}})}
			c.change(&in)
			_, _, err := op.Run(h.ctx, h.Engine, inbound.CreateWebhook, in, nil)
			e := apperr.From(err)
			require.Equal(t, apperr.Validation, e.Code, name)
			fields := map[string]bool{}
			for _, d := range e.Details {
				fields[d.Field] = true
			}
			for _, f := range c.fields {
				require.True(t, fields[f], "%s: %s in %v", name, f, e.Details)
			}
			require.Len(t, fields, len(c.fields), "%s: %v", name, e.Details)
			require.NotContains(t, fmt.Sprint(e, in), "short secret")
		}
		_, _, err := op.Run(h.ctx, h.Engine, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, OfferingID: op.SetTo(h.offering.ID)}, nil)
		require.Equal(t, []apperr.Detail{{Field: "fieldMapping.fields.host", Message: "Is required: the offering's form asks for it with each request."}}, apperr.From(err).Details)
		good := mapping(t, body{"title": "webhook.body.title", "fields": body{"host": "webhook.body.host"}})
		w := testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, OfferingID: op.SetTo(h.offering.ID), FieldMapping: op.SetTo(*good)})
		require.JSONEq(t, `{"title":"webhook.body.title","fields":{"host":"webhook.body.host"}}`, string(w.FieldMapping))
		_, _, err = op.Run(h.ctx, h.Engine, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, OfferingID: op.Clear[string]()}, nil)
		require.Equal(t, "fieldMapping", apperr.From(err).Details[0].Field, "it would have nothing to file")
		w = testkit.Run(t, h.World, h.ctx, inbound.UpdateWebhook, inbound.UpdateWebhookInput{ByID: op.ByID{ID: h.issued.ID}, OfferingID: op.Clear[string](), FieldMapping: op.Clear[inbound.Mapping]()})
		require.Nil(t, w.OfferingID)
		require.Empty(t, w.FieldMapping)
	})
}

// Rows that a webhook needs cannot be deleted.
func TestNeededRowsStay(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		for name, err := range map[string]error{
			"workflow": second(op.Run(h.ctx, h.Engine, workflow.DeleteWorkflow, op.ByID{ID: h.workflow.ID}, nil)),
			"offering": second(op.Run(h.ctx, h.Engine, catalog.DeleteOffering, op.ByID{ID: h.offering.ID}, nil)),
			"service":  second(op.Run(h.ctx, h.Engine, catalog.DeleteService, op.ByID{ID: h.service.ID}, nil)),
		} {
			require.Equal(t, apperr.Conflict, apperr.CodeOf(err), name)
			if name != "workflow" { // the offering uses the workflow, too
				require.Contains(t, apperr.From(err).Message, `"Monitoring"`, name)
			}
		}
		testkit.Run(t, h.World, h.ctx, catalog.UpdateOffering, catalog.UpdateOfferingInput{ByID: op.ByID{ID: h.offering.ID}, WorkflowID: op.Clear[string]()})
		err := second(op.Run(h.ctx, h.Engine, workflow.DeleteWorkflow, op.ByID{ID: h.workflow.ID}, nil))
		require.Contains(t, apperr.From(err).Message, `"Monitoring"`)
		testkit.Run(t, h.World, h.ctx, inbound.DeleteWebhook, op.ByID{ID: h.issued.ID})
		testkit.Run(t, h.World, h.ctx, catalog.DeleteService, op.ByID{ID: h.service.ID})
		testkit.Run(t, h.World, h.ctx, workflow.DeleteWorkflow, op.ByID{ID: h.workflow.ID})
	}, withOffering(alert))
}

func second[A, B any](_ A, _ B, err error) error { return err }

// The 51st webhook of a company is refused.
func TestWebhooksAreBounded(t *testing.T) {
	each(t, func(t *testing.T, h *hook) {
		in := inbound.CreateWebhookInput{Name: "X", WorkflowID: h.workflow.ID}
		for range 49 {
			testkit.Run(t, h.World, h.ctx, inbound.CreateWebhook, in)
		}
		testkit.Refused(t, h.World, h.ctx, inbound.CreateWebhook, in, apperr.Conflict)
	})
}
