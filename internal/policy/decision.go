package policy

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/internal/op"
	"atrium/internal/op/paging"
)

var decisionSorts = op.Sorts{"createdAt": accessdecision.FieldCreatedAt}

// The operations on the decision log. Decisions about rows that are hidden from the caller are hidden as well, except
// the caller's own refusals, which are shown without the row's content.
var (
	ListDecisions = op.New("accessdecision.list", op.Spec{
		Resource: "AccessDecision", Action: op.Read, AdminLayer: true, Sorts: decisionSorts,
		Summary: "List decisions: every refusal, and a sample of what was allowed",
	}, listDecisions)

	GetDecision = op.Get("accessdecision.read", op.Spec{
		Resource: "AccessDecision", Action: op.Read, AdminLayer: true,
		Summary: "Get a decision by the decisionId of a refusal",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AccessDecision, error) {
		d, err := tx.AccessDecision.Query().Where(accessdecision.ID(id)).Only(ctx)
		if err == nil {
			err = discreet(tx, d)
		}
		return d, err
	})
)

// ListDecisionsInput filters and pages the log. Filters combine; each takes several values, any of which may match.
type ListDecisionsInput struct {
	paging.Page
	Outcome      []string `json:"-" query:"outcome" enum:"allowed,denied"`
	PrincipalID  []string `json:"-" query:"principalId" maxLength:"64"`
	ResourceType []string `json:"-" query:"resourceType" maxLength:"64"`
	ResourceID   []string `json:"-" query:"resourceId" maxLength:"64"`
}

func listDecisions(ctx context.Context, tx *op.Tx, in ListDecisionsInput) (paging.List[*ent.AccessDecision], error) {
	list, err := paging.Of(ctx, in.Page, decisionSorts, decisionsOf(tx, in))
	if err != nil {
		return list, err
	}
	for _, d := range list.Rows {
		if err := discreet(tx, d); err != nil {
			return list, err
		}
	}
	return list, nil
}

func decisionsOf(tx *op.Tx, in ListDecisionsInput) *ent.AccessDecisionQuery {
	where := paging.In(nil, in.PrincipalID, accessdecision.PrincipalIDIn)
	where = paging.In(where, in.ResourceType, accessdecision.ResourceTypeIn)
	where = paging.In(where, in.ResourceID, accessdecision.ResourceIDIn)
	if len(in.Outcome) == 1 {
		where = append(where, accessdecision.Allowed(in.Outcome[0] == "allowed"))
	}
	return tx.AccessDecision.Query().Where(where...)
}

// discreet removes the row's content, and the policy that hid it, from one of the caller's own refusals.
func discreet(tx *op.Tx, d *ent.AccessDecision) error {
	if d.Allowed || d.PrincipalID != tx.Principal().ID {
		return nil
	}
	if d.Action == string(op.Read) && d.DecidedKind == "policy" {
		d.DecidedID = ""
	}
	if len(d.Input) == 0 {
		return nil
	}
	var logged map[string]json.RawMessage
	if err := json.Unmarshal(d.Input, &logged); err != nil {
		return fmt.Errorf("read decision %s: %w", d.ID, err)
	}
	delete(logged, "resource")
	text, err := json.Marshal(logged)
	if err != nil {
		return fmt.Errorf("write decision %s: %w", d.ID, err)
	}
	d.Input = text
	return nil
}
