package op

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/idempotencykey"
)

// What follows deletes rows that op writes and keeps for a time only: up to limit of them, of all companies, that were made
// before a moment. They return how many there were. A job calls them with IdempotencyWindow and DecisionAge.

// DeleteIdempotencyKeys deletes kept answers.
func DeleteIdempotencyKeys(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.IdempotencyKey.Query().Where(idempotencykey.CreatedAtLT(before)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
}

// DeleteDecisions deletes decisions by their age.
func DeleteDecisions(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.AccessDecision.Query().Where(accessdecision.CreatedAtLT(before)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.AccessDecision.Delete().Where(accessdecision.IDIn(ids...)).Exec(ctx)
}

// DeleteExcessDecisions deletes the oldest decisions of companies that keep more than DecisionCount, whenever they were made.
func DeleteExcessDecisions(ctx context.Context, db *ent.Client, _ time.Time, limit int) (int, error) {
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
		over := min(c.Count-DecisionCount, limit-len(all))
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
