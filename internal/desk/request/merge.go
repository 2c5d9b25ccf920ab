package request

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/requestlink"
	"atrium/ent/user"
	"atrium/ent/watcher"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
)

// Merge cancels a request as a duplicate of another one. Whoever is concerned with it watches the other, and a link leads from each to
// the other, so that who may read both finds the conversation.
var Merge = op.OnRow("request.merge", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write",
	Past:    map[string]string{"request.cancel": "request.merged"},
	Summary: "Cancel a request as a duplicate of another one",
}, load, merge).WithVerbs(func(MergeInput) []string { return []string{"request.cancel", "request.update"} })

// MergeInput names the request that stays.
type MergeInput struct {
	op.ByID
	Into string `json:"into" minLength:"1" maxLength:"64" doc:"The request that stays, which is not cancelled." example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func merge(ctx context.Context, tx *op.Tx, r *ent.Request, in MergeInput) (*ent.Request, error) {
	into, err := mergeable(ctx, tx, r, in.Into)
	if err != nil {
		return nil, err
	}
	is, err := tx.RequestLink.Query().Where(requestlink.FromID(r.ID), requestlink.ToID(into.ID), requestlink.TypeEQ(requestlink.TypeDuplicates)).Exist(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the links: %w", err)
	}
	if !is {
		if _, err := connect(ctx, tx, r, into, requestlink.TypeDuplicates); err != nil {
			return nil, err
		}
	}
	var watching []string
	if err := tx.Watcher.Query().Where(watcher.RequestID(r.ID), watcher.UserIDNEQ(into.RequesterID)).Select(watcher.FieldUserID).
		Scan(tx.Unfiltered(ctx, "watchers whom the caller does not see watch on"), &watching); err != nil {
		return nil, fmt.Errorf("read the watchers: %w", err)
	}
	requester, err := person(ctx, tx, user.And(user.ID(r.RequesterID), user.IDNEQ(into.RequesterID)))
	if err != nil {
		return nil, fmt.Errorf("look the requester up: %w", err)
	}
	if requester != "" {
		watching = append(watching, requester)
	}
	if _, _, err := addWatchers(ctx, tx, into.ID, watching...); err != nil {
		return nil, err
	}
	tx.ChangedField("into", nil, into.ID)
	return update(ctx, tx, r, UpdateInput{ByID: in.ByID, Status: op.SetTo(string(request.StatusCANCELLED)), Merged: true})
}

// mergeable returns the request that stays. It takes the right to change that one as well.
func mergeable(ctx context.Context, tx *op.Tx, r *ent.Request, id string) (*ent.Request, error) {
	into, err := another(ctx, tx, r, "into", id)
	if err != nil {
		return nil, err
	}
	may, err := tx.Permits(ctx, Update.Info(), into)
	switch {
	case err != nil:
		return nil, err
	case !may:
		return nil, apperr.New(apperr.Forbidden, "You may not change the request that would stay.")
	case into.Status == request.StatusCANCELLED:
		return nil, apperr.New(apperr.Conflict, "The request that would stay is cancelled.")
	}
	return into, nil
}
