package op

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"

	"atrium/authz"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// What principals other than the caller may do: those who are to be told of a row, and agents before they act.

// ReadableBy reports whether a principal of the company may read a row through an operation, as the row's own or as one who takes part in
// it (Reaching), and has the further verbs: callers check it before they tell somebody about the row. A role that reaches only its own
// rows lets an agent read the row, which is that of its run. It asks the company's policies, so call it in a preparation.
func (tx *Tx) ReadableBy(ctx context.Context, who *principal.Principal, info *Info, entity any, verbs ...string) (bool, error) {
	for _, verb := range append(verbs, info.Verb) {
		d, err := tx.engine.decide(ctx, who, info, verb)
		if err != nil || !d.Allow {
			return false, err
		}
		if verb != info.Verb || who.Type == principal.TypeAgent {
			continue
		}
		if within, err := tx.Within(ctx, info, d.Rows, entity, who.ID); err != nil || !within {
			return false, err
		}
	}
	return tx.VisibleTo(ctx, who, info, entity)
}

// VisibleTo reports whether the company's policies let a principal read a row through an operation. It ignores the role's reach: use
// it for a principal to whom the row is assigned.
func (tx *Tx) VisibleTo(ctx context.Context, who *principal.Principal, info *Info, entity any) (bool, error) {
	return tx.allowedTo(ctx, who, info, Read, entity)
}

// MayDo reports whether scopes, role and policies let a principal of the company perform an operation on a row as it is, with the
// rights that it requires at least. It asks the company's policies, as ReadableBy does.
func (tx *Tx) MayDo(ctx context.Context, who *principal.Principal, info *Info, entity any) (bool, error) {
	d, err := tx.engine.decideAll(ctx, who, info, info.Verbs(), nil)
	if err != nil || !d.Allow || !Reaches(d.Rows, entity, who.ID) {
		return false, err
	}
	if ok, err := tx.VisibleTo(ctx, who, info, entity); !ok || err != nil {
		return false, err
	}
	return tx.allowedTo(ctx, who, info, info.Action, entity)
}

func (tx *Tx) allowedTo(ctx context.Context, who *principal.Principal, info *Info, action Action, entity any) (bool, error) {
	set, caller, err := tx.PoliciesOf(ctx, who)
	if err != nil {
		return false, undecided(err)
	}
	row, err := tx.RowOf(ctx, entity)
	if err != nil {
		return false, undecided(err)
	}
	d, err := tx.engine.Authz.DecideRow(ctx, set, caller, info.question(info.Verbs()[0], action, info.Resource), row)
	return d.Allow, err
}

// ApprovalFor returns the id of the access policy that makes an agent's change of a row wait for a person, for the row as it is or
// as the arguments would make it; empty for none. For an operation that creates, entity is the row without what the arguments set,
// and only the row that they make is asked about. Returns forbidden if the policies deny one of the rows. It asks the company's
// policies, so call it outside of transactions.
func (tx *Tx) ApprovalFor(ctx context.Context, who *principal.Principal, info *Info, entity any, arguments json.RawMessage) (string, error) {
	set, caller, err := tx.PoliciesOf(ctx, who)
	if err != nil {
		return "", undecided(err)
	}
	row, err := tx.RowOf(ctx, entity)
	if err != nil {
		return "", undecided(err)
	}
	after := maps.Clone(row.Document())
	if err := json.Unmarshal(arguments, &after); err != nil {
		return "", undecided(err)
	}
	rows := []authz.Row{row, authz.RowOfInput(info.Resource, row.ID, after)}
	if info.Action == Create {
		rows = rows[1:]
	}
	approval := ""
	for _, row := range rows {
		d, err := tx.engine.Authz.DecideRow(ctx, set, caller, info.question(info.Verbs()[0], info.Action, info.Resource), row)
		if err != nil {
			return "", undecided(err)
		}
		if !d.Allow {
			return "", apperr.New(apperr.Forbidden, "The access policies do not allow this.")
		}
		approval = cmp.Or(approval, d.Approval)
	}
	return approval, nil
}
