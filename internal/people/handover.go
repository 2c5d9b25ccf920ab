package people

import (
	"context"
	"fmt"

	entrequest "atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/team"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/workflow/execution"
)

// maxHandedOver limits the requests and tasks that one transaction reassigns, which is about half a second of work.
const maxHandedOver = 1000

// held counts the open work assigned to a user.
type held struct{ requests, tasks int }

// handOver returns the open work that is assigned to a user and, if there is a team, assigns it to the team. Each change
// is an update of its own, with the caller's rights and an audit entry: if the caller may not change one of them, nothing
// changes. Returns conflict when there is too much.
func handOver(ctx context.Context, tx *op.Tx, userID string, teamID *string) (held, error) {
	all := tx.Unfiltered(ctx, "who holds work that the caller does not see holds work, too")
	requests, err := tx.Request.Query().
		Where(entrequest.AssigneeID(userID), lifecycle.OpenRequests()).
		Order(entrequest.ByID()).IDs(all)
	if err != nil {
		return held{}, fmt.Errorf("look for the user's open requests: %w", err)
	}
	tasks, err := tx.Task.Query().Where(task.AssigneeID(userID), lifecycle.OpenTasks()).
		Order(task.ByID()).IDs(all)
	if err != nil {
		return held{}, fmt.Errorf("look for the user's open tasks: %w", err)
	}
	out := held{len(requests), len(tasks)}
	if teamID == nil {
		return out, nil
	}
	var refs op.Refs
	refs.Check("reassignTo", teamID, "team", func(id string) (bool, error) {
		return tx.Team.Query().Where(team.ID(id)).Exist(ctx)
	})
	if err := refs.Err(); err != nil {
		return held{}, err
	}
	if out.requests+out.tasks > maxHandedOver {
		return held{}, apperr.New(apperr.Conflict, "The user holds more than %d open requests and tasks. Assign some of them first.", maxHandedOver)
	}
	for _, id := range requests {
		in := request.UpdateInput{ByID: op.ByID{ID: id}, AssigneeID: op.Clear[string](), TeamID: op.SetTo(*teamID)}
		if _, err := op.RunIn(ctx, tx, request.Update, in); err != nil {
			return held{}, err
		}
	}
	for _, id := range tasks {
		if _, err := op.RunIn(ctx, tx, execution.AssignTask, execution.AssignTaskInput{ByID: op.ByID{ID: id}, TeamID: teamID}); err != nil {
			return held{}, err
		}
	}
	return out, nil
}
