package notice

import (
	"context"

	"atrium/internal/op"
)

// MailDigests runs the digest job.
func MailDigests(ctx context.Context, e *op.Engine, reads Reads) error {
	return (&digester{engine: e, reads: reads}).Work(ctx, nil)
}

// NextDigest returns when digests are mailed next in a zone.
var NextDigest = nextDigest
