package decisionlog

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/accessdecision"
)

// Delete deletes at most limit decisions, of all companies, that were made before a moment. Returns how many it deleted.
func Delete(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.AccessDecision.Query().Where(accessdecision.CreatedAtLT(before)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.AccessDecision.Delete().Where(accessdecision.IDIn(ids...)).Exec(ctx)
}

// DeleteExcess deletes the oldest decisions of companies that store more than Count, whatever their age.
func DeleteExcess(ctx context.Context, db *ent.Client, _ time.Time, limit int) (int, error) {
	var counts []struct {
		CompanyID string `json:"company_id"`
		Count     int    `json:"count"`
	}
	err := db.AccessDecision.Query().GroupBy(accessdecision.FieldCompanyID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return 0, fmt.Errorf("count the companies' decisions: %w", err)
	}
	var all []string
	for _, c := range counts {
		over := min(c.Count-Count, limit-len(all))
		if over <= 0 {
			continue
		}
		ids, err := db.AccessDecision.Query().Where(accessdecision.CompanyID(c.CompanyID)).
			Order(accessdecision.ByCreatedAt(), accessdecision.ByID()).Limit(over).IDs(ctx)
		if err != nil {
			return 0, fmt.Errorf("find the oldest decisions: %w", err)
		}
		all = append(all, ids...)
	}
	if len(all) == 0 {
		return 0, nil
	}
	return db.AccessDecision.Delete().Where(accessdecision.IDIn(all...)).Exec(ctx)
}
