package notice

import (
	"context"

	"atrium/internal/op"
)

// MailDigests does what the job does.
func MailDigests(ctx context.Context, e *op.Engine) error {
	return (&digester{engine: e}).Work(ctx, nil)
}
