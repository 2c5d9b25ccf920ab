package inbound

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"atrium/ent"
	"atrium/ent/inboundwebhook"
	"atrium/ent/offering"
	"atrium/ent/workflow"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
	"atrium/internal/webhook/preset"
	"atrium/internal/workflow/definition"
)

// Mapping is a field mapping of an input: its JSON text and, once it was read, its parsed form. Reading compiles expressions,
// which takes time, so operations do it in their preparation.
type Mapping struct {
	sent   json.RawMessage
	text   json.RawMessage // as it is stored; nil if it is not JSON
	parsed *definition.Mapping
	faults []apperr.Detail
}

// read returns the mapping in its parsed form; nil for nil.
func (m *Mapping) read(ctx context.Context, tx *op.Tx) (*Mapping, error) {
	if m == nil {
		return nil, nil // no mapping is saved
	}
	out := *m
	err := tx.Costly(ctx, func(ctx context.Context) error {
		out.parsed, out.faults = definition.ParseMapping(ctx, out.sent)
		return nil
	})
	return &out, err
}

// keys returns the keys of the form's fields that the mapping fills.
func (m *Mapping) keys() []string {
	if m == nil || m.parsed == nil {
		return nil
	}
	return m.parsed.Keys()
}

// Schema describes the mapping as an object. Package definition describes and checks what it may hold.
func (Mapping) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the text that is stored.
func (m Mapping) MarshalJSON() ([]byte, error) { return m.text.MarshalJSON() }

// UnmarshalJSON reads the text.
func (m *Mapping) UnmarshalJSON(text []byte) error {
	*m = Mapping{sent: bytes.Clone(text)}
	var compact bytes.Buffer
	if json.Compact(&compact, text) == nil {
		m.text = compact.Bytes()
	}
	return nil
}

// target is what a webhook refers to, before it is saved. Fields that are nil are not looked up.
type target struct {
	workflow *string
	offering *string
	mapping  *Mapping // that was sent
	keys     []string // the keys of the form's fields that the mapping fills once the webhook is saved
	headers  []string // that were sent
	when     []apperr.Detail
	preset   *string
	style    inboundwebhook.SignatureStyle // empty when neither style nor settings change
	settings preset.Signature              // once the webhook is saved
}

// prepared is what is read before the transaction, because it takes time.
type prepared struct {
	mapping *Mapping
	when    []apperr.Detail // the faults of the condition
}

// prepare compiles what was sent.
func prepare(ctx context.Context, tx *op.Tx, mapping *Mapping, when *string) (out prepared, err error) {
	if out.mapping, err = mapping.read(ctx, tx); err != nil || when == nil {
		return out, err
	}
	err = tx.Costly(ctx, func(ctx context.Context) error {
		_, out.when = definition.ParseCallCondition(ctx, "when", *when)
		return nil
	})
	return out, err
}

// check reports the ids that are no rows of the company, the faults of the mapping, the fields that the offering's form does not
// have, and what is wrong with a secret.
func (t target) check(ctx context.Context, tx *op.Tx, given *secret.Value) error {
	var refs op.Refs
	refs.Check("workflowId", t.workflow, "published workflow", op.FindShared(ctx, tx, func(id string) *ent.WorkflowQuery {
		return tx.Workflow.Query().Where(workflow.ID(id), workflow.VersionGT(0), workflow.StatusNEQ(workflow.StatusArchived))
	}))
	var off *ent.Offering
	refs.Check("offeringId", t.offering, "offering", func(id string) (found bool, err error) {
		off, err = op.Share(tx, tx.Offering.Query().Where(offering.ID(id))).Only(ctx)
		return err == nil, ent.MaskNotFound(err)
	})
	t.checkMapping(&refs, off)
	checkHeaders(&refs, t.headers)
	for _, d := range t.when {
		refs.Fault(d.Field, d.Message)
	}
	if t.preset != nil && preset.Of(*t.preset) == nil {
		refs.Fault("preset", "must be one of "+strings.Join(preset.Keys(), ", "))
	}
	if t.style != "" {
		checkSignature(&refs, t.style, t.settings)
	}
	if given != nil {
		if err := checkSecret(*given); err != nil {
			refs.Fault("signingSecret", err.Error())
		}
	}
	if err := refs.Err(); err != nil {
		return fmt.Errorf("check the webhook: %w", err)
	}
	return nil
}

// checkMapping reports the faults of the mapping, the fields that the offering's form does not have, and those that it requires and the
// mapping leaves open.
func (t target) checkMapping(refs *op.Refs, off *ent.Offering) {
	if t.mapping != nil {
		for _, d := range t.mapping.faults {
			refs.Fault(d.Field, d.Message)
		}
	}
	switch {
	case t.offering == nil && (t.mapping != nil || len(t.keys) > 0):
		refs.Fault("fieldMapping", "needs an offeringId")
	case off != nil && off.Form != nil:
		for _, key := range t.keys {
			at := slices.IndexFunc(off.Form.Fields, func(f form.Field) bool { return f.Key == key })
			switch {
			case at < 0:
				refs.Fault("fieldMapping.fields."+key, "is no field of the offering's form")
			case off.Form.Fields[at].Type == form.File:
				refs.Fault("fieldMapping.fields."+key, "is a question for files, which a webhook does not bring")
			}
		}
		t.checkRequired(refs, off.Form)
	}
}

// checkRequired reports the questions that each request must answer and the mapping leaves open: each call would end in an incident.
// Whether a question that others show is asked depends on the call, so those are left to it.
func (t target) checkRequired(refs *op.Refs, of *form.Definition) {
	if t.mapping != nil && len(t.mapping.faults) > 0 {
		return // what it fills is not known
	}
	for _, f := range of.Fields {
		switch {
		case !f.Required || len(f.VisibleWhen) > 0 || slices.Contains(t.keys, f.Key):
		case f.Type == form.File:
			refs.Fault("fieldMapping.fields."+f.Key, "is a required question for files, which a webhook does not bring")
		default:
			refs.Fault("fieldMapping.fields."+f.Key, "is required: the offering's form asks for it with each request")
		}
	}
}
