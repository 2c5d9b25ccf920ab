package request

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/request"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/notify/notice"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/principal"
)

// What follows from what is said of a request: clocks, events, and those who hear of it.

// announce does what follows from a comment of the caller's that was written, or published: an internal one that has become public. told
// are those whom it mentions, who have been notified of it. The request's row is locked.
func announce(ctx context.Context, tx *op.Tx, r *ent.Request, c *ent.Comment, told []string, published bool) error {
	r, err := follow(ctx, tx, r, c)
	if err != nil {
		return err
	}
	err = tx.EmitAs(ctx, events.Event{Name: events.RequestCommented, SubjectID: r.ID, Data: events.RequestComment{
		Request: dataOf(r), CommentID: c.ID, Visibility: string(c.Visibility),
	}})
	if err != nil {
		return err
	}
	hear := notice.ProgressArgs{Company: r.CompanyID, Request: r.ID, Comment: c.ID, By: c.AuthorID}
	if c.Visibility == comment.VisibilityPublic && c.AuthorID != r.RequesterID && !slices.Contains(told, r.RequesterID) {
		if err := tx.Insert(ctx, hear, time.Time{}); err != nil {
			return err
		}
	}
	watch := slices.Clone(told)
	if tx.Principal().Type == principal.TypeUser {
		watch = append(watch, c.AuthorID)
	}
	watch = slices.DeleteFunc(watch, func(id string) bool { return id == r.RequesterID })
	if _, _, err := addWatchers(ctx, tx, r.ID, watch...); err != nil {
		return err
	}
	hear.Watchers, hear.Published = true, published
	return tx.Insert(ctx, hear, time.Time{})
}

// follow does what follows from a public comment, and returns the request as it is afterwards if the comment was a response to it. If its
// requester said it, it waits no longer, and is open again if it was completed not long ago; if that is long ago, a new one follows.
func follow(ctx context.Context, tx *op.Tx, r *ent.Request, c *ent.Comment) (*ent.Request, error) {
	switch {
	case c.Visibility != comment.VisibilityPublic:
	case c.AuthorID != r.RequesterID:
		return respond(ctx, tx, r)
	case r.Status == request.StatusCOMPLETED:
		return r, reopenFor(ctx, tx, r, c)
	case r.Waiting:
		_, err := op.RunIn(ctx, tx.AsWorker(timer.Worker), Update, UpdateInput{ByID: op.ByID{ID: r.ID}, Waiting: op.SetTo(false)})
		return r, err
	}
	return r, nil
}

// respond notes that an open request has got its first response, if it has none and the caller is no member who merely takes part in it.
// The clock of the response ends. What fell due before fires before.
func respond(ctx context.Context, tx *op.Tx, r *ent.Request) (*ent.Request, error) {
	if respondedAt(r) != nil || !lifecycle.RequestOpen(r.Status) || tx.OwnOnly() && tx.Principal().Type != principal.TypeAgent {
		return r, nil
	}
	now := tx.Now(ctx)
	r, err := advance(ctx, tx, r, now, events.Cause{})
	if err != nil {
		return nil, err
	}
	r, err = op.Save(tx.Unfiltered(ctx, "a response is one whatever its author sees"), tx, r, r.Update().SetFirstResponseAt(now))
	if err != nil {
		return nil, fmt.Errorf("note the first response: %w", err)
	}
	return advance(ctx, tx, r, now, events.Cause{})
}

// respondedAt returns when the requester first got a response; nil while they wait for it. A node of the release before notes only when it
// accepts.
func respondedAt(r *ent.Request) *time.Time { return cmp.Or(r.FirstResponseAt, r.AcceptedAt) }
