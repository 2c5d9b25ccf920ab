package inbound

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent/inboundwebhook"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/platform/locale"
	"atrium/internal/webhook/preset"
)

// ListPresets lists the senders that webhooks can be made for, in the caller's language.
var ListPresets = op.New("inboundwebhook.presets", op.Spec{
	Resource: "InboundWebhook", Action: op.Read, AdminLayer: true, Summary: "List the senders that inbound webhooks can be made for",
}, listPresets).WithVerbs(func(struct{}) []string { return []string{"inboundwebhook.read"} })

// Preset is what a webhook of one sender is made with, and how to set the sender up.
type Preset struct {
	Key            string
	Name           string
	Description    string
	SignatureStyle inboundwebhook.SignatureStyle
	Signature      *preset.Signature
	Headers        []string // nil for the usual ones
	When           *string  // nil for every call
	FieldMapping   json.RawMessage
	Steps          []string
	SecretBySender bool
	SampleHeaders  map[string]string
	SampleBody     json.RawMessage
}

func listPresets(ctx context.Context, tx *op.Tx, _ struct{}) ([]*Preset, error) {
	p, err := reader(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := make([]*Preset, 0, len(preset.All))
	for _, s := range preset.All {
		mapping, err := json.Marshal(s.Mapping)
		if err != nil {
			return nil, fmt.Errorf("write the mapping of %s: %w", s.Key, err)
		}
		one := &Preset{
			Key: s.Key, Name: p.T(s.Name), Description: p.T(s.Description), SignatureStyle: inboundwebhook.SignatureStyle(s.Style), Signature: s.Signature, Headers: s.Headers,
			FieldMapping: mapping, SecretBySender: s.SecretThere, SampleHeaders: s.Sample.Headers, SampleBody: s.Sample.Body,
		}
		if s.When != "" {
			one.When = &s.When
		}
		for _, step := range s.Steps {
			one.Steps = append(one.Steps, p.T(step))
		}
		out = append(out, one)
	}
	return out, nil
}

// reader returns the printer for the caller.
func reader(ctx context.Context, tx *op.Tx) (locale.Printer, error) {
	all := tx.Unfiltered(ctx, "callers are asked in their language, whatever policies hide")
	c, err := tx.Company.Get(all, tx.Principal().CompanyID)
	if err != nil {
		return locale.Printer{}, fmt.Errorf("read the company: %w", err)
	}
	u, err := tx.User.Query().Where(user.ID(tx.Principal().ID)).First(all)
	if err != nil {
		return locale.Printer{}, fmt.Errorf("read the caller: %w", err)
	}
	return op.ReaderOf(u, c), nil
}
