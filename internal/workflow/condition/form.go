package condition

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/ent/offering"
	"atrium/internal/desk/form"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// probe is a question that is added to a form: it is shown while the condition holds.
const probe = "isItShown"

// checkForm tries a visibleWhen on the form of an offering, with the answers of sample.request.fields.
func checkForm(ctx context.Context, tx *op.Tx, in CheckInput) (out Checked, err error) {
	o, err := tx.Offering.Query().Where(offering.ID(op.Or(in.ID, ""))).Only(ctx)
	if err != nil {
		return out, fmt.Errorf("read the offering: %w", err)
	}
	vars, err := loadSample(ctx, tx, in)
	if err != nil {
		return out, err
	}
	var when map[string]any
	if err := json.Unmarshal([]byte(in.Expression), &when); err != nil {
		out.Fault = &Fault{Message: "This is not a JSON object: {\"key\": value}."}
		return out, nil
	}
	d := form.Definition{}
	if o.Form != nil {
		d.Fields = slices.Clone(o.Form.Fields)
	}
	d.Fields = append(d.Fields, form.Field{Key: probe, Type: form.Text, Required: true, VisibleWhen: when})
	err = tx.Costly(ctx, func(ctx context.Context) error {
		compiled, err := form.Compile(d)
		if err != nil {
			out.Fault = &Fault{Message: apperr.From(err).Details[0].Message}
			return nil
		}
		out.Type = new("boolean")
		if vars != nil {
			return out.show(ctx, compiled, vars.Request)
		}
		return nil
	})
	return out, err
}

// show reports whether the question is shown with the answers: then it lacks its own.
func (c *Checked) show(ctx context.Context, f *form.Form, request map[string]any) error {
	answers, _ := request["fields"].(map[string]any)
	every := func(_ context.Context, ids []string) (map[string]bool, error) {
		all := map[string]bool{}
		for _, id := range ids {
			all[id] = true
		}
		return all, nil
	}
	details, err := f.Validate(ctx, answers, form.Lookups{Users: every, Teams: every, Files: form.AnyFiles()})
	if err != nil {
		return fmt.Errorf("try the form: %w", err)
	}
	shown := slices.ContainsFunc(details, func(d apperr.Detail) bool { return strings.HasSuffix(d.Field, "."+probe) })
	c.Result, err = json.Marshal(shown)
	return err
}
