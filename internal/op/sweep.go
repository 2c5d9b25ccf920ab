package op

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/idempotencykey"
)

// DeleteIdempotencyKeys deletes up to limit stored answers, of all companies, that were made before a moment. Returns how
// many it deleted. A job calls it with IdempotencyWindow.
func DeleteIdempotencyKeys(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.IdempotencyKey.Query().Where(idempotencykey.CreatedAtLT(before)).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.IdempotencyKey.Delete().Where(idempotencykey.IDIn(ids...)).Exec(ctx)
}
