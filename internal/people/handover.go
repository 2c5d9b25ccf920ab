package people

import (
	"context"
	"fmt"

	entrequest "atrium/ent/request"
	"atrium/ent/team"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/request"
)

// maxHandedOver bounds the requests that change hands in one transaction, about half a second's work.
const maxHandedOver = 1000

// handOver returns how many open requests are assigned to a user and, where there is a team, assigns them to it. Each is
// changed as its own update, with the caller's rights to the request and an audit entry: a request that the caller may not
// change keeps everything as it was. Returns conflict when they are too many.
func handOver(ctx context.Context, tx *op.Tx, userID string, teamID *string) (int, error) {
	all := tx.Unfiltered(ctx, "who holds work that the caller does not see holds work, too")
	held, err := tx.Request.Query().
		Where(entrequest.AssigneeID(userID), entrequest.StatusIn(entrequest.StatusPENDING, entrequest.StatusIN_PROGRESS)).
		Order(entrequest.ByID()).IDs(all)
	if err != nil {
		return 0, fmt.Errorf("look for the user's open requests: %w", err)
	}
	if teamID == nil {
		return len(held), nil
	}
	var refs op.Refs
	refs.Check("reassignTo", teamID, "team", func(id string) (bool, error) {
		return tx.Team.Query().Where(team.ID(id)).Exist(ctx)
	})
	if err := refs.Err(); err != nil {
		return 0, err
	}
	if len(held) > maxHandedOver {
		return 0, apperr.New(apperr.Conflict, "The user holds more than %d open requests. Assign some of them first.", maxHandedOver)
	}
	for _, id := range held {
		in := request.UpdateInput{ByID: op.ByID{ID: id}, AssigneeID: op.Clear[string](), TeamID: op.SetTo(*teamID)}
		if _, err := op.RunIn(ctx, tx, request.Update, in); err != nil {
			return 0, err
		}
	}
	return len(held), nil
}
