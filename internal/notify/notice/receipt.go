package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/company"
	"atrium/ent/offering"
	"atrium/internal/desk/form"
	"atrium/internal/notify/mail"
	"atrium/internal/platform/locale"
	"atrium/internal/platform/strictjson"
)

// The most that a receipt repeats: answers, and characters of each.
const (
	maxAnswers = 20
	maxAnswer  = 200
)

// wanted returns who of a company is told of a note: everybody, but of a receipt whoever wants one.
func (n Note) wanted(c *ent.Company, people []*ent.User) []*ent.User {
	if !n.Receipt {
		return people
	}
	return slices.DeleteFunc(people, func(u *ent.User) bool {
		_, chosen := u.Notifications[Receipt]
		return channelIn(c, u, Receipt) == channelNever && (chosen || !n.ByMail || c.Receipts == company.ReceiptsNone)
	})
}

// answers returns what a receipt repeats of the answers to the form of a request's offering, a line each. Files, people and teams are left
// out, of which an answer has the ids alone.
func (w *progress) answers(ctx context.Context, r *ent.Request) ([]locale.Text, error) {
	off, err := w.engine.Store.Reader().Offering.Query().Where(offering.ID(r.OfferingID)).Only(ctx)
	if err != nil {
		return nil, wrap("read the offering", ent.MaskNotFound(err))
	}
	if off.Form == nil || len(r.Fields) == 0 {
		return nil, nil
	}
	var values strictjson.Object
	if err := json.Unmarshal(r.Fields, &values); err != nil {
		return nil, fmt.Errorf("read the answers: %w", err)
	}
	var lines []string
	for _, f := range off.Form.Fields {
		if said := answer(f, values[f.Key]); said != "" && len(lines) < maxAnswers {
			lines = append(lines, mail.Plain(f.Title(), maxAnswer)+": "+mail.Plain(said, maxAnswer))
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return []locale.Text{locale.Raw(strings.Join(lines, "\n"))}, nil
}

// answer returns an answer as a receipt repeats it; empty for what it leaves out.
func answer(f form.Field, v any) string {
	switch f.Type {
	case form.User, form.Team, form.File:
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "✓"
		}
		return "–"
	case []any:
		var parts []string
		for _, one := range v {
			if s, ok := one.(string); ok {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}
