package notice

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/requestlink"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/platform/locale"
)

// Whoever asked for what somebody else had asked for may not read that other request. When it is completed, they are told of their own,
// and nothing of the other.

// doubles returns the jobs that tell the requesters of those requests that were merged into one that has been completed, also by way of
// others.
func (w *progress) doubles(ctx context.Context, a ProgressArgs) (jobs []ProgressArgs, err error) {
	if a.Comment != "" || a.Filed || a.Receipt || a.Reopened || a.Watchers || a.Solved != "" {
		return nil, nil
	}
	db, seen := w.engine.Store.Reader(), map[string]bool{a.Request: true}
	is, err := db.Request.Query().Where(request.ID(a.Request), request.StatusEQ(request.StatusCOMPLETED)).Exist(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	for next := []string{a.Request}; is && len(next) > 0; {
		links, err := db.RequestLink.Query().
			Where(requestlink.ToIDIn(next...), requestlink.TypeEQ(requestlink.TypeDuplicates), requestlink.HasFromWith(request.MergedAtNotNil())).
			Order(requestlink.ByID()).Limit(MaxTold).All(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the duplicates: %w", err)
		}
		next = nil
		for _, l := range links {
			if !seen[l.FromID] && len(jobs) < MaxTold {
				seen[l.FromID], next = true, append(next, l.FromID)
				jobs = append(jobs, ProgressArgs{Company: a.Company, Request: l.FromID, By: a.By, Solved: a.Request})
			}
		}
	}
	return jobs, nil
}

// solved returns the requester of a duplicate, and the notice that what it asks for is solved. Nobody is told who may read the request
// that stays: they watch it since their own was merged.
func (w *progress) solved(ctx context.Context, a ProgressArgs) ([]*ent.User, Note, error) {
	note, db := Note{Kind: Progress, Named: true}, w.engine.Store.Reader()
	r, err := db.Request.Query().Where(request.ID(a.Request), request.MergedAtNotNil()).Only(ctx)
	if err != nil {
		return nil, note, wrap("read the request", ent.MaskNotFound(err))
	}
	stays, err := db.Request.Query().Where(request.ID(a.Solved), request.StatusEQ(request.StatusCOMPLETED)).Only(ctx)
	if err != nil { // it is open again, which is told on its own
		return nil, note, wrap("read the request that stays", ent.MaskNotFound(err))
	}
	people, err := db.User.Query().Where(user.ID(r.RequesterID), user.IDNEQ(a.By), access.Here()).All(ctx)
	if err != nil {
		return nil, note, fmt.Errorf("look up whom to tell: %w", err)
	}
	knows, err := ReadersOutside(ctx, w.engine, a.Company, worker, people, w.reads.Request, stays, false)
	if err != nil || len(knows) > 0 {
		return nil, note, err
	}
	note.About, note.RequestID = Named(r), &r.ID
	note.Subject = locale.Say("Solved: %s", note.About)
	note.Text = []locale.Text{locale.Say("Your request was closed as a duplicate of another one, which is solved now.")}
	people, err = ReadersOutside(ctx, w.engine, a.Company, worker, people, w.reads.Request, r, true)
	return people, note, err
}
