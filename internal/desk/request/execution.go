package request

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/request"
)

// Link records which execution processes a request, in the transaction that files it, so that the audit entry of its
// creation includes it.
func Link(ctx context.Context, db *ent.Client, requestID, executionID string) error {
	if err := db.Request.Update().Where(request.ID(requestID)).SetExecutionID(executionID).Exec(ctx); err != nil {
		return fmt.Errorf("note the request's execution: %w", err)
	}
	return nil
}
