package erasure

import (
	"context"

	"github.com/riverqueue/river"

	"atrium/internal/op"
)

// Erase does the job.
func Erase(ctx context.Context, e *op.Engine, args Args) error {
	return (&eraser{engine: e}).Work(ctx, &river.Job[Args]{Args: args})
}
