package notice

import (
	"context"

	"atrium/internal/op"
)

// MailDigests runs the digest job.
func MailDigests(ctx context.Context, e *op.Engine) error {
	return (&digester{engine: e}).Work(ctx, nil)
}
