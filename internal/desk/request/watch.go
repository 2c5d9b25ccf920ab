package request

import (
	"cmp"
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/ent/watcher"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// Watchers hear of comments on a request and of its end, if they may read it. Staff become one when they comment or are assigned or
// mentioned; anybody may watch what they may read, and staff add and remove others.
var (
	Watch = op.OnRow("request.watch", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.watch": "request.watched"},
		Summary: "Watch a request, or have somebody else watch it",
	}, load, watch).Reaching(participant.InRequest)

	Unwatch = op.OnRow("request.unwatch", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.watch": "request.unwatched"},
		Summary: "Watch a request no more, or have somebody else watch it no more",
	}, load, unwatch).Reaching(participant.InRequest).WithVerbs(func(UnwatchInput) []string { return []string{"request.watch"} })

	ListWatchers = op.OnRow("request.watchers", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List who watches a request",
	}, load, listWatchers).Reaching(participant.InRequest)

	WatchersOf = op.New("request.watchers_of", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "List who watches several requests",
	}, watchersOf)
)

// maxWatchers bounds the watchers of a request.
const maxWatchers = 100

// WatchInput says who is to watch.
type WatchInput struct {
	op.ByID
	UserID *string `json:"userId,omitempty" nullable:"true" maxLength:"64" doc:"Staff name somebody else; the caller when not given." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func watch(ctx context.Context, tx *op.Tx, r *ent.Request, in WatchInput) (*ent.Request, error) {
	id, err := watching(ctx, tx, in.UserID)
	if err != nil {
		return nil, err
	}
	added, full, err := addWatchers(ctx, tx, r.ID, id)
	switch {
	case err != nil:
		return nil, err
	case full:
		return nil, apperr.New(apperr.Conflict, "A request has at most %d watchers.", maxWatchers)
	case added > 0:
		tx.ChangedField("watcherId", nil, id)
	}
	return r, nil
}

// UnwatchInput says who is to watch no more.
type UnwatchInput struct {
	op.ByID
	UserID string `json:"-" query:"userId" maxLength:"64" doc:"Staff name somebody else; the caller when not given."`
}

func unwatch(ctx context.Context, tx *op.Tx, r *ent.Request, in UnwatchInput) (*ent.Request, error) {
	id := cmp.Or(in.UserID, tx.Principal().ID)
	if id != tx.Principal().ID {
		if err := tx.May(ctx, "request.update"); err != nil {
			return nil, err
		}
	}
	n, err := tx.Watcher.Delete().Where(watcher.RequestID(r.ID), watcher.UserID(id)).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("remove the watcher: %w", err)
	}
	if n > 0 {
		tx.ChangedField("watcherId", id, nil)
	}
	return r, nil
}

// watching returns the id of whoever is to watch: a person of the company. Only who may change the request names others.
func watching(ctx context.Context, tx *op.Tx, named *string) (string, error) {
	me := tx.Principal().ID
	id := op.Or(named, me)
	if id != me {
		if err := tx.May(ctx, "request.update"); err != nil {
			return "", err
		}
	}
	found, err := person(ctx, tx, user.ID(id))
	if err != nil {
		return "", fmt.Errorf("look the watcher up: %w", err)
	}
	if found == "" {
		return "", apperr.InvalidField("userId", "is no user of the company, or one who was deactivated or erased")
	}
	return id, nil
}

// addWatchers has people watch a request, whose row is locked, who do not yet, and returns how many were added. It leaves out those for
// whom there is no room.
func addWatchers(ctx context.Context, tx *op.Tx, requestID string, userIDs ...string) (added int, full bool, err error) {
	if len(userIDs) == 0 {
		return 0, false, nil
	}
	rows, err := tx.Watcher.Query().Where(watcher.RequestID(requestID)).Select(watcher.FieldUserID).
		All(tx.Unfiltered(ctx, "watchers whom the caller does not see count as well"))
	if err != nil {
		return 0, false, fmt.Errorf("read the watchers: %w", err)
	}
	watches := map[string]bool{}
	for _, w := range rows {
		watches[w.UserID] = true
	}
	for _, id := range userIDs {
		if watches[id] {
			continue
		}
		if len(watches) >= maxWatchers {
			return added, true, nil
		}
		watches[id] = true
		added++
		if err := tx.Watcher.Create().SetRequestID(requestID).SetUserID(id).Exec(ctx); err != nil {
			return 0, false, fmt.Errorf("add the watcher: %w", err)
		}
	}
	return added, false, nil
}

func listWatchers(ctx context.Context, tx *op.Tx, r *ent.Request, in PeopleInput) (paging.List[*Named], error) {
	of, err := watchersOf(ctx, tx, paging.ByIDs{IDs: []string{r.ID}})
	return pageOf(in, of[r.ID]), err
}

// watchersOf returns by request who watches it, by name, without those whom access policies hide from the caller.
func watchersOf(ctx context.Context, tx *op.Tx, in paging.ByIDs) (map[string][]*Named, error) {
	rows, err := tx.Watcher.Query().Where(watcher.RequestIDIn(in.IDs...), watcher.HasRequestWith(reached(tx)...)).
		WithUser(func(q *ent.UserQuery) { q.Select(user.FieldID, user.FieldName) }).Order(watcher.ByCreatedAt(), watcher.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the watchers: %w", err)
	}
	out := map[string][]*Named{}
	for _, id := range in.IDs {
		out[id] = []*Named{}
	}
	for _, w := range rows {
		if u := w.Edges.User; u != nil {
			out[w.RequestID] = append(out[w.RequestID], &Named{u.ID, u.Name})
		}
	}
	return out, nil
}
