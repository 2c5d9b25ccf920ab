package catalog

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/desk/form"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// FormChoices lists what people may answer to a question for a person or a team. Whoever may file a request may: members, who read
// no users and teams, could not answer otherwise. It shows ids and names alone, of what the access policies do not hide.
var FormChoices = op.OnRow("offering.choices", op.Spec{
	Resource: "Offering", Action: op.Read, Scope: "services:read",
	Summary: "List what a form's question for a person or a team takes",
}, loadOffering, formChoices)

// FormChoicesInput names the question.
type FormChoicesInput struct {
	op.ByID
	Field string   `json:"-" query:"field" minLength:"1" maxLength:"100" doc:"The key of a field of the type user or team."`
	Q     string   `json:"-" query:"q" maxLength:"200" doc:"Those whose name has these words, or parts of them."`
	IDs   []string `json:"-" query:"ids" maxItems:"100" maxLength:"64" doc:"Those with these ids."`
}

// FormChoice is one possible answer.
type FormChoice struct{ ID, Name string }

// maxChoices bounds the choices of one answer; q finds the others.
const maxChoices = 200

// formChoices returns validation_error for a field that is no question for a person or a team.
func formChoices(ctx context.Context, tx *op.Tx, o *ent.Offering, in FormChoicesInput) ([]*FormChoice, error) {
	var fields []form.Field
	if o.Form != nil {
		fields = o.Form.Fields
	}
	at := slices.IndexFunc(fields, func(f form.Field) bool { return f.Key == in.Field && (f.Type == form.User || f.Type == form.Team) })
	if at < 0 {
		return nil, apperr.InvalidField("field", "must be the key of a question for a person or a team")
	}
	out := []*FormChoice{}
	if fields[at].Type == form.User {
		where := paging.Words(paging.In([]predicate.User{access.Here()}, in.IDs, user.IDIn), in.Q, user.FieldName)
		rows, err := tx.User.Query().Where(where...).Order(paging.ByText[user.OrderOption](user.FieldName), user.ByID()).Limit(maxChoices).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the people: %w", err)
		}
		for _, u := range rows {
			out = append(out, &FormChoice{u.ID, u.Name})
		}
		return out, nil
	}
	where := paging.Words(paging.In([]predicate.Team(nil), in.IDs, team.IDIn), in.Q, team.FieldName)
	rows, err := tx.Team.Query().Where(where...).Order(paging.ByText[team.OrderOption](team.FieldName), team.ByID()).Limit(maxChoices).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the teams: %w", err)
	}
	for _, t := range rows {
		out = append(out, &FormChoice{t.ID, t.Name})
	}
	return out, nil
}
