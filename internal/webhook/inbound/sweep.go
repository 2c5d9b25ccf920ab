package inbound

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/inboundcall"
	"atrium/internal/platform/jobs"
)

const (
	keptFor   = 30 * 24 * time.Hour
	keptCalls = 1000 // the newest of each webhook
)

// Sweeps deletes old calls, and the calls of a webhook beyond the newest keptCalls.
func Sweeps() jobs.Option {
	return jobs.Sweeps(
		jobs.Sweep{Rows: "calls of inbound webhooks", Kept: keptFor, Delete: deleteOld},
		jobs.Sweep{Rows: "calls of inbound webhooks beyond their share", Delete: deleteExcess},
	)
}

// deleteOld deletes up to limit calls that came before a moment.
func deleteOld(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.InboundCall.Query().Where(inboundcall.CreatedAtLT(before)).Order(inboundcall.ByCreatedAt(), inboundcall.ByID()).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.InboundCall.Delete().Where(inboundcall.IDIn(ids...)).Exec(ctx)
}

// deleteExcess deletes the oldest calls of webhooks that have more than they may keep.
func deleteExcess(ctx context.Context, db *ent.Client, _ time.Time, limit int) (int, error) {
	var counts []struct {
		CompanyID string `json:"company_id"`
		WebhookID string `json:"webhook_id"`
		Count     int    `json:"count"`
	}
	err := db.InboundCall.Query().GroupBy(inboundcall.FieldCompanyID, inboundcall.FieldWebhookID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return 0, fmt.Errorf("count the webhooks' calls: %w", err)
	}
	var all []string
	for _, c := range counts {
		over := min(c.Count-keptCalls, limit-len(all))
		if over <= 0 {
			continue
		}
		ids, err := db.InboundCall.Query().Where(inboundcall.CompanyID(c.CompanyID), inboundcall.WebhookID(c.WebhookID)).
			Order(inboundcall.ByCreatedAt(), inboundcall.ByID()).Limit(over).IDs(ctx)
		if err != nil {
			return 0, fmt.Errorf("find the oldest calls: %w", err)
		}
		all = append(all, ids...)
	}
	if len(all) == 0 {
		return 0, nil
	}
	return db.InboundCall.Delete().Where(inboundcall.IDIn(all...)).Exec(ctx)
}
