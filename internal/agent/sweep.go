package agent

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/ent/agentturn"
	"atrium/internal/platform/jobs"
)

// turnsKept is how long a run can be replayed. It is short because the inputs of a run quote many requests.
const turnsKept = 7 * 24 * time.Hour

// Sweeps returns the job that deletes the inputs and turns of old runs.
func Sweeps() jobs.Option {
	return jobs.Sweeps(jobs.Sweep{Rows: "turns of agents", Kept: turnsKept, Delete: deleteTurns})
}

func deleteTurns(ctx context.Context, db *ent.Client, before time.Time, limit int) (int, error) {
	ids, err := db.AgentTurn.Query().Where(agentturn.CreatedAtLT(before)).Order(agentturn.ByCreatedAt(), agentturn.ByID()).Limit(limit).IDs(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return db.AgentTurn.Delete().Where(agentturn.IDIn(ids...)).Exec(ctx)
}
