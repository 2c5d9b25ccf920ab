package mailbox

import (
	"context"
	"time"

	"atrium/ent"
)

// Forget removes raw messages that came before a moment.
func (p *Post) Forget(ctx context.Context, db *ent.Client, before time.Time) (int, error) {
	return p.forget(ctx, db, before, 1000)
}
