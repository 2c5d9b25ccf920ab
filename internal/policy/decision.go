package policy

import (
	"context"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/predicate"
	"atrium/internal/op"
)

var decisionSorts = op.Sorts{"createdAt": accessdecision.FieldCreatedAt}

// The operations on the decision log.
var (
	ListDecisions = op.New("accessdecision.list", op.Spec{
		Resource: "AccessDecision", Action: op.Read, AdminLayer: true, Sorts: decisionSorts,
		Summary: "List decisions: every refusal, and a sample of what was allowed",
	}, listDecisions)

	GetDecision = op.Get("accessdecision.read", op.Spec{
		Resource: "AccessDecision", Action: op.Read, AdminLayer: true,
		Summary: "Get a decision by the decisionId of a refusal",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AccessDecision, error) {
		return tx.AccessDecision.Query().Where(accessdecision.ID(id)).Only(ctx)
	})
)

// ListDecisionsInput filters and pages the log. Filters combine; each takes several values, any of which may match.
type ListDecisionsInput struct {
	op.Page
	Outcome      []string `json:"-" query:"outcome" enum:"allowed,denied"`
	PrincipalID  []string `json:"-" query:"principalId" maxLength:"64"`
	ResourceType []string `json:"-" query:"resourceType" maxLength:"64"`
	ResourceID   []string `json:"-" query:"resourceId" maxLength:"64"`
}

func listDecisions(ctx context.Context, tx *op.Tx, in ListDecisionsInput) (op.List[*ent.AccessDecision], error) {
	var where []predicate.AccessDecision
	if len(in.Outcome) == 1 {
		where = append(where, accessdecision.Allowed(in.Outcome[0] == "allowed"))
	}
	where = op.AppendIn(where, in.PrincipalID, accessdecision.PrincipalIDIn)
	where = op.AppendIn(where, in.ResourceType, accessdecision.ResourceTypeIn)
	where = op.AppendIn(where, in.ResourceID, accessdecision.ResourceIDIn)
	q := tx.AccessDecision.Query().Where(where...)
	return op.ListOf(ctx, in.Page, decisionSorts, q.Clone().Count, func(ctx context.Context, order func(*sql.Selector), offset, limit int) ([]*ent.AccessDecision, error) {
		return q.Clone().Order(order).Offset(offset).Limit(limit).All(ctx)
	})
}
