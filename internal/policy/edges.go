package policy

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/accesspolicyversion"
	"atrium/ent/predicate"
	"atrium/internal/op"
)

// VersionsOf lists the changes of several policies, the newest first. It is for policies that the caller has read.
var VersionsOf = op.New("accesspolicy.versions", op.Spec{
	Resource: "AccessPolicy", Action: op.Read, AdminLayer: true,
	Summary: "List the changes of several access policies",
}, versionsOf)

func versionsOf(ctx context.Context, tx *op.Tx, in op.OfParents) (map[string]op.List[*ent.AccessPolicyVersion], error) {
	ids := op.Padded(in.IDs)
	of := op.Branches{Table: accesspolicyversion.Table, Column: accesspolicyversion.FieldPolicyID, IDs: ids}
	counts := func(ctx context.Context) (map[string]int, error) {
		var rows []struct {
			PolicyID string `json:"policy_id"`
			Count    int    `json:"count"`
		}
		q := tx.AccessPolicyVersion.Query().Where(accesspolicyversion.PolicyIDIn(ids...)).GroupBy(accesspolicyversion.FieldPolicyID).Aggregate(ent.Count())
		if err := q.Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("group by policy: %w", err)
		}
		out := make(map[string]int, len(rows))
		for _, r := range rows {
			out[r.PolicyID] = r.Count
		}
		return out, nil
	}
	rows := func(ctx context.Context, within predicate.AccessPolicyVersion, order func(*sql.Selector)) ([]*ent.AccessPolicyVersion, error) {
		return tx.AccessPolicyVersion.Query().Where(within).Order(order).All(ctx)
	}
	return op.ListEach(ctx, tx, in.Page, nil, of, counts, rows, func(v *ent.AccessPolicyVersion) string { return v.PolicyID })
}
