package mailbox

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/internal/platform/share"
)

// Forget removes raw messages that came before a moment.
func (p *Post) Forget(ctx context.Context, db *ent.Client, before time.Time) (int, error) {
	return p.forget(ctx, db, before, 1000)
}

// Moved and ErrChanged are what keeps up to where a folder was fetched.
var (
	Moved      = moved
	ErrChanged = errChanged
)

// Fetches are the places of the mailboxes that a node fetches.
func (p *Post) Fetches() *share.Places { return p.fetches.Places }

// Fetch works the job of one mailbox.
func (p *Post) Fetch(ctx context.Context, args FetchArgs) error {
	return (&fetcher{post: p}).Work(ctx, &river.Job[FetchArgs]{Args: args})
}
