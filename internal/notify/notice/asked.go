package notice

import (
	"context"
	"strings"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/predicate"
	"atrium/ent/task"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/participant"
)

// Asked matches the people whom a task or an approval waits for: nobody once it is done, decided or gone, nor whoever has given it to
// somebody else or has decided already.
func Asked(ctx context.Context, db *ent.Client, id string) (predicate.User, error) {
	if strings.HasPrefix(id, "task_") {
		t, err := db.Task.Query().Where(task.ID(id), lifecycle.OpenTasks()).Only(ctx)
		switch {
		case err != nil:
			return user.IDIn(), wrap("read the task", ent.MaskNotFound(err))
		case t.AssigneeID != nil:
			return user.ID(*t.AssigneeID), nil
		case t.TeamID != nil:
			return user.HasMembershipsWith(teammember.TeamID(*t.TeamID)), nil
		}
		return user.IDIn(), nil
	}
	a, err := db.Approval.Query().Where(approval.ID(id), approval.StatusEQ(approval.StatusPENDING)).Only(ctx)
	if err != nil {
		return user.IDIn(), wrap("read the approval", ent.MaskNotFound(err))
	}
	ids, have, err := participant.Deciders(a)
	if err != nil {
		return nil, err
	}
	return user.And(user.Or(user.IDIn(ids...), user.HasMembershipsWith(teammember.TeamIDIn(ids...))), user.IDNotIn(have...)), nil
}
