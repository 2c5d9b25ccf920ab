package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/definition"
)

// Definition is a workflow definition in an input: its JSON text and, once it was read, the result. Reading is slow,
// because it compiles expressions; operations do it in their preparation.
type Definition struct {
	sent   json.RawMessage
	text   json.RawMessage        // as it is stored; nil for invalid JSON
	parsed *definition.Definition // nil for one with faults of its own
	names  definition.References  // what it names, faults or not
	faults []apperr.Detail
}

// NewDefinition returns an unread definition with that text; operations report its faults.
func NewDefinition(text []byte) Definition {
	d := Definition{sent: bytes.Clone(text)}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err == nil {
		d.text = AsSent(compact.Bytes())
	}
	return d
}

// read parses and compiles the definition's text.
func (d Definition) read(ctx context.Context, tx *op.Tx) (Definition, error) {
	err := tx.Costly(ctx, func(ctx context.Context) error {
		d.parsed, d.names, d.faults = definition.ParseNaming(ctx, d.sent)
		for _, ref := range d.names.Calendars {
			unmet, err := Unmet(ctx, tx, ref.ID, ref.Field, time.Duration(ref.Minutes)*time.Minute)
			if err != nil {
				return err
			}
			d.faults = append(d.faults, unmet...)
		}
		return nil
	})
	return d, err
}

// DraftOf returns the draft of a workflow, unread.
func DraftOf(w *ent.Workflow) Definition { return NewDefinition(AsSent(w.Definition)) }

// Compiled returns the definition as a run would follow it. Returns the faults for which it could not be published as validation_error.
// Call it outside of transactions.
func (d Definition) Compiled(ctx context.Context, tx *op.Tx) (*definition.Definition, error) {
	d, err := d.read(ctx, tx)
	if err == nil {
		err = d.check(ctx, tx)
	}
	return d.parsed, err
}

// uses lists the rows that the definition names, in the form that its published version stores.
func (d Definition) uses() []string {
	out := []string{}
	for _, k := range d.parsed.References().Kinds() {
		for _, id := range distinct(k.References) {
			out = append(out, k.Noun+":"+id)
		}
	}
	return out
}

// Schema describes the definition as an object; package definition describes and checks its content.
func (Definition) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON returns the text.
func (d Definition) MarshalJSON() ([]byte, error) { return d.text.MarshalJSON() }

// UnmarshalJSON reads the text.
func (d *Definition) UnmarshalJSON(text []byte) error {
	*d = NewDefinition(text)
	return nil
}

// check returns validation_error with one detail per fault: of the definition itself, and of the rows that it names.
func (d Definition) check(ctx context.Context, tx *op.Tx) error {
	var refs op.Refs
	refs.Refused(d.ownFaults())
	refs.Also(checkReferences(ctx, tx, d))
	return refs.Err()
}

// ownFaults returns validation_error with what is wrong with the definition itself.
func (d Definition) ownFaults() error {
	if len(d.faults) > 0 {
		return apperr.Invalid(d.faults...)
	}
	if d.parsed == nil {
		return apperr.InvalidField("definition", "is required")
	}
	stored, err := json.Marshal(d.text)
	if err != nil {
		return fmt.Errorf("write the definition: %w", err)
	}
	if len(stored) > definition.MaxBytes { // a stored definition must stay within the limit of the parser
		return apperr.InvalidField("definition", "A definition may be at most %d KiB, each of < > & counting as six bytes.", definition.MaxBytes>>10)
	}
	return nil
}

// allFaults reads a definition outside of a transaction, and returns everything that is wrong with it.
func (d Definition) allFaults(ctx context.Context, tx *op.Tx) ([]apperr.Detail, error) {
	d, err := d.read(ctx, tx)
	if err == nil {
		err = d.check(ctx, tx)
	}
	return op.Details(err)
}

// unescaped maps the escapes that encoding/json writes for the sake of HTML to their characters.
var unescaped = map[string]string{"003c": "<", "003e": ">", "0026": "&", "2028": "\u2028", "2029": "\u2029"}

// AsSent returns the text of a stored definition without the escapes that Ent's encoder put into its strings, so that
// conditions read "a && b" again. The order of keys and the digits of numbers are the caller's; blanks between tokens are
// not preserved.
func AsSent(stored json.RawMessage) json.RawMessage {
	if !bytes.Contains(stored, []byte(`\u`)) {
		return stored
	}
	out := make([]byte, 0, len(stored))
	for i := 0; i < len(stored); i++ {
		if stored[i] != '\\' || i+1 == len(stored) {
			out = append(out, stored[i])
			continue
		}
		if stored[i+1] == 'u' && i+6 <= len(stored) {
			if plain, ok := unescaped[string(stored[i+2:i+6])]; ok {
				out = append(out, plain...)
				i += 5
				continue
			}
		}
		out = append(out, stored[i], stored[i+1])
		i++ // an escaped character starts no escape
	}
	return out
}
