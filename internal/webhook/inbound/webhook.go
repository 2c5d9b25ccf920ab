package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/secret"
	"atrium/internal/webhook/preset"
	"atrium/internal/webhook/signing"
)

// maxWebhooks is how many a company may have.
const maxWebhooks = 50

var webhookSorts = op.Sorts{
	"createdAt": inboundwebhook.FieldCreatedAt, "updatedAt": inboundwebhook.FieldUpdatedAt, "name": op.Alphabetical(inboundwebhook.FieldName),
}

// The operations on inbound webhooks. They require a person, not an API key. Only CreateWebhook and RotateSecret return a secret.
var (
	ListWebhooks = paging.NewList("inboundwebhook.list", op.Spec{
		Resource: "InboundWebhook", Action: op.Read, AdminLayer: true, Sorts: webhookSorts, Summary: "List inbound webhooks",
	}, func(_ context.Context, tx *op.Tx, _ ListWebhooksInput) *ent.InboundWebhookQuery {
		return tx.InboundWebhook.Query()
	})

	GetWebhook = op.Get("inboundwebhook.read", op.Spec{
		Resource: "InboundWebhook", Action: op.Read, AdminLayer: true, Summary: "Get an inbound webhook",
	}, loadWebhook)

	CreateWebhook = op.New("inboundwebhook.create", op.Spec{
		Resource: "InboundWebhook", Action: op.Create, AdminLayer: true, Summary: "Make an address that starts a workflow when it is called",
	}, createWebhook).Prepared(func(ctx context.Context, tx *op.Tx, in CreateWebhookInput) (any, error) {
		return prepare(ctx, tx, in.FieldMapping, in.When)
	}).WithCheck(checkNew, "when")

	UpdateWebhook = op.OnRow("inboundwebhook.update", op.Spec{
		Resource: "InboundWebhook", Action: op.Update, AdminLayer: true, Summary: "Update an inbound webhook",
	}, loadWebhook, updateWebhook).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateWebhookInput) (any, error) {
		return prepare(ctx, tx, in.FieldMapping.Value(), in.When.Value())
	}).WithCheck(checkChange, "when")

	DeleteWebhook = op.OnRow("inboundwebhook.delete", op.Spec{
		Resource: "InboundWebhook", Action: op.Delete, AdminLayer: true,
		Summary: "Delete an inbound webhook and the history of its calls; executions that it started go on",
	}, loadWebhook, deleteWebhook)
)

// ListWebhooksInput pages the list of inbound webhooks.
type ListWebhooksInput struct{ paging.Page }

func loadWebhook(ctx context.Context, tx *op.Tx, id string) (*ent.InboundWebhook, error) {
	return op.Lock(tx, tx.InboundWebhook.Query().Where(inboundwebhook.ID(id))).Only(ctx)
}

// CreateWebhookInput describes a new inbound webhook.
type CreateWebhookInput struct {
	Name            string            `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	WorkflowID      string            `json:"workflowId" minLength:"1" maxLength:"64" doc:"A published workflow."`
	OfferingID      *string           `json:"offeringId,omitempty" nullable:"true" maxLength:"64" doc:"An offering against which each call files a request, whose own workflow is not started then."`
	FieldMapping    *Mapping          `json:"fieldMapping,omitempty" nullable:"true" doc:"{title, description, priority, tags, requesterEmail, fields: {key: expression}}, all of them CEL over webhook. The title is the webhook's name when not given; tags are a list of texts, or one text with commas; requesterEmail is the address of a person of the company, and counts for nothing when there is none."`
	When            *string           `json:"when,omitempty" nullable:"true" minLength:"1" maxLength:"4096" pattern:"\\S" patternDescription:"more than blanks" doc:"A CEL expression over webhook. Other calls are answered as ignored, and start nothing. Every call starts the workflow when not given."`
	Preset          *string           `json:"preset,omitempty" nullable:"true" maxLength:"40" doc:"The key of the sender that it is made for, of inboundPresets."`
	Headers         []string          `json:"headers,omitempty" nullable:"true" maxItems:"50" doc:"The headers of calls that workflows read and the history shows; * for all but known credentials. The usual headers of events when not given."`
	SignatureStyle  *string           `json:"signatureStyle,omitempty" nullable:"true" enum:"hex,standard,github,stripe,slack,pagerduty,header,bearer,basic,sns" doc:"How calls are signed; hex when not given."`
	Signature       *preset.Signature `json:"signature,omitempty" nullable:"true" doc:"What the style needs besides the secret: header for header, username for basic, topicArn for sns."`
	VerifySignature *bool             `json:"verifySignature,omitempty" nullable:"true" doc:"false lets whoever knows the address start the workflow: for development alone."`
	SigningSecret   *secret.Value     `json:"signingSecret,omitempty" nullable:"true" writeOnly:"true" doc:"The secret that the sender has chosen, 16 to 256 characters; drawn when not given."`
}

// Issued is an inbound webhook with its signing secret, which is shown only once.
type Issued struct {
	ID            string
	Webhook       *ent.InboundWebhook
	SigningSecret secret.Value
}

func (in CreateWebhookInput) style() inboundwebhook.SignatureStyle {
	return inboundwebhook.SignatureStyle(op.Or(in.SignatureStyle, string(inboundwebhook.DefaultSignatureStyle)))
}

// target returns what the webhook refers to.
func (in CreateWebhookInput) target(ready prepared) target {
	return target{
		workflow: &in.WorkflowID, offering: in.OfferingID, mapping: ready.mapping, keys: ready.mapping.keys(), headers: in.Headers, when: ready.when,
		preset: in.Preset, style: in.style(), settings: op.Or(in.Signature, preset.Signature{}),
	}
}

// checkNew returns everything that is wrong with a new webhook, outside of a transaction.
func checkNew(ctx context.Context, tx *op.Tx, in CreateWebhookInput) error {
	ready, err := prepare(ctx, tx, in.FieldMapping, in.When)
	if err != nil {
		return err
	}
	return in.target(ready).check(ctx, tx, in.SigningSecret)
}

// checkChange returns everything that is wrong with a change of a webhook, outside of a transaction.
func checkChange(ctx context.Context, tx *op.Tx, in UpdateWebhookInput) error {
	before, err := loadWebhook(ctx, tx, in.ID)
	if err != nil {
		return err
	}
	ready, err := prepare(ctx, tx, in.FieldMapping.Value(), in.When.Value())
	if err != nil {
		return err
	}
	t, _, _ := in.target(ready, before)
	return t.check(ctx, tx, nil)
}

// createWebhook returns validation_error for a workflow that is not published, an offering or form field that does not exist, and
// a faulty mapping; and conflict for the 51st webhook of a company.
func createWebhook(ctx context.Context, tx *op.Tx, in CreateWebhookInput) (Issued, error) {
	ready, _ := op.Preparation[prepared](tx)
	if err := in.target(ready).check(ctx, tx, in.SigningSecret); err != nil {
		return Issued{}, err
	}
	full := apperr.New(apperr.Conflict, "A company has at most %d inbound webhooks.", maxWebhooks)
	if err := tx.AtMost(ctx, "inbound/"+tx.Principal().CompanyID, maxWebhooks, tx.InboundWebhook.Query().Count, full); err != nil {
		return Issued{}, err
	}
	out := Issued{ID: id.New("whi"), SigningSecret: givenOrNew(in.SigningSecret)}
	sealed, err := signing.Seal(tx.Sealer(), out.SigningSecret, out.ID)
	if err != nil {
		return Issued{}, err
	}
	create := tx.InboundWebhook.Create().SetID(out.ID).SetName(in.Name).SetWorkflowID(in.WorkflowID).SetNillableOfferingID(in.OfferingID).
		SetNillableWhen(in.When).SetNillablePreset(in.Preset).SetSignatureStyle(in.style()).
		SetVerifySignature(op.Or(in.VerifySignature, true)).SetSecretSealed(sealed).SetCreatedBy(tx.Principal().ID)
	if ready.mapping != nil {
		create.SetFieldMapping(ready.mapping.text)
	}
	if raw, err := storedSignature(in.Signature); err != nil {
		return Issued{}, err
	} else if raw != nil {
		create.SetSignature(raw)
	}
	if in.Headers != nil {
		create.SetHeaders(stored(in.Headers))
	}
	if out.Webhook, err = create.Save(ctx); err != nil {
		return Issued{}, fmt.Errorf("create the webhook: %w", err)
	}
	tx.Changed(nil, out.Webhook)
	return out, nil
}

// UpdateWebhookInput changes the fields that it names.
type UpdateWebhookInput struct {
	op.ByID
	Name            op.Patch[string]           `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Enabled         op.Patch[bool]             `json:"enabled,omitzero" doc:"false answers calls as if there were no such webhook."`
	WorkflowID      op.Patch[string]           `json:"workflowId,omitzero" minLength:"1" maxLength:"64" doc:"A published workflow."`
	OfferingID      op.Patch[string]           `json:"offeringId,omitzero" nullable:"true" maxLength:"64" doc:"An offering against which each call files a request."`
	FieldMapping    op.Patch[Mapping]          `json:"fieldMapping,omitzero" nullable:"true" doc:"Replaces the mapping whole."`
	When            op.Patch[string]           `json:"when,omitzero" nullable:"true" minLength:"1" maxLength:"4096" pattern:"\\S" patternDescription:"more than blanks" doc:"A CEL expression over webhook. Other calls start nothing."`
	Preset          op.Patch[string]           `json:"preset,omitzero" nullable:"true" maxLength:"40" doc:"The key of the sender that it is made for."`
	Headers         op.Patch[[]string]         `json:"headers,omitzero" nullable:"true" maxItems:"50" doc:"Replaces the list of headers that are kept."`
	SignatureStyle  op.Patch[string]           `json:"signatureStyle,omitzero" enum:"hex,standard,github,stripe,slack,pagerduty,header,bearer,basic,sns" doc:"How calls are signed. Without signature beside it, what the style before needed is dropped."`
	Signature       op.Patch[preset.Signature] `json:"signature,omitzero" nullable:"true" doc:"Replaces what the style needs besides the secret."`
	VerifySignature op.Patch[bool]             `json:"verifySignature,omitzero" doc:"false lets whoever knows the address start the workflow: for development alone."`
}

func updateWebhook(ctx context.Context, tx *op.Tx, before *ent.InboundWebhook, in UpdateWebhookInput) (*ent.InboundWebhook, error) {
	ready, _ := op.Preparation[prepared](tx)
	t, settings, resigned := in.target(ready, before)
	if err := t.check(ctx, tx, nil); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Enabled, u.SetEnabled)
	op.Set(in.WorkflowID, u.SetWorkflowID)
	op.SetOrClear(in.OfferingID, u.SetOfferingID, u.ClearOfferingID)
	op.SetOrClear(in.FieldMapping, func(Mapping) *ent.InboundWebhookUpdateOne { return u.SetFieldMapping(ready.mapping.text) }, u.ClearFieldMapping)
	op.SetOrClear(in.Headers, func(names []string) *ent.InboundWebhookUpdateOne { return u.SetHeaders(stored(names)) }, u.ClearHeaders)
	op.SetOrClear(in.When, u.SetWhen, u.ClearWhen)
	op.SetOrClear(in.Preset, u.SetPreset, u.ClearPreset)
	if raw, err := storedSignature(settings); err != nil {
		return nil, err
	} else if resigned && raw == nil {
		u.ClearSignature()
	} else if resigned {
		u.SetSignature(raw)
	}
	op.Set(in.VerifySignature, u.SetVerifySignature)
	if style, ok := op.Given(in.SignatureStyle); ok {
		u.SetSignatureStyle(inboundwebhook.SignatureStyle(style))
	}
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the webhook: %w", err)
	}
	return after, nil
}

// target returns what the webhook refers to once it is saved, the settings of its style, and whether these change. Another style drops
// what the style before needed.
func (in UpdateWebhookInput) target(ready prepared, before *ent.InboundWebhook) (t target, settings *preset.Signature, resigned bool) {
	t = target{
		workflow: in.WorkflowID.Value(), offering: op.After(in.OfferingID, before.OfferingID), mapping: ready.mapping, keys: keysOf(before.FieldMapping),
		when: ready.when, preset: in.Preset.Value(),
	}
	if names, ok := op.Given(in.Headers); ok {
		t.headers = names
	}
	if in.FieldMapping.IsSet() {
		t.keys = ready.mapping.keys()
	}
	if !in.OfferingID.IsSet() && !in.FieldMapping.IsSet() {
		t.offering, t.keys = nil, nil // what is stored is not checked against a form that has changed since
	}
	style := inboundwebhook.SignatureStyle(op.Or(in.SignatureStyle.Value(), string(before.SignatureStyle)))
	if style == before.SignatureStyle && !in.Signature.IsSet() {
		return t, nil, false
	}
	settings = in.Signature.Value()
	t.style, t.settings = style, op.Or(settings, preset.Signature{})
	return t, settings, true
}

func deleteWebhook(ctx context.Context, tx *op.Tx, w *ent.InboundWebhook, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, w, tx.InboundWebhook.DeleteOne(w).Exec)
}

// Path returns the path of a webhook's calls, below the base URL.
func Path(webhookID string) string { return "/v1/webhooks/inbound/" + webhookID }

// Warning says what is dangerous about a webhook; nil if nothing is.
func Warning(w *ent.InboundWebhook) *string {
	switch {
	case !w.Enabled:
		return nil
	case !w.VerifySignature:
		return new("Signatures are not verified: whoever knows the address can start the workflow.")
	case slices.Contains(w.Headers, allHeaders):
		return new("All headers of calls are kept, except those known as credentials: list those that the workflow reads.")
	}
	return nil
}

// keysOf returns the keys of the form's fields that a stored mapping fills.
func keysOf(mapping json.RawMessage) []string {
	var m struct {
		Fields map[string]json.RawMessage `json:"fields"`
	}
	if len(mapping) == 0 || json.Unmarshal(mapping, &m) != nil {
		return nil // cannot happen: the mapping was checked when it was saved
	}
	keys := make([]string, 0, len(m.Fields))
	for key := range m.Fields {
		keys = append(keys, key)
	}
	return keys
}
