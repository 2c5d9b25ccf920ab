package execution

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/internal/workflow/engine"
)

// EraseVariables deletes the variables of an execution that has ended: request, webhook and phases. It raises the
// revision, so that a step computed meanwhile is computed again and finds that the execution has ended.
func EraseVariables(ctx context.Context, db *ent.Client, id string) error {
	row, err := db.Execution.Get(ctx, id)
	if err != nil {
		return fmt.Errorf("read the execution: %w", err)
	}
	state, err := json.Marshal(engine.State{Status: engine.Status(row.Status)})
	if err != nil {
		return fmt.Errorf("write the execution's state: %w", err)
	}
	err = row.Update().SetState(state).ClearWebhook().ClearIntake().ClearError().AddRevision(1).Exec(ctx)
	if err != nil {
		return fmt.Errorf("erase the execution's variables: %w", err)
	}
	return nil
}

// EraseComments deletes a user's comments on approvals; the decisions stay.
func EraseComments(ctx context.Context, db *ent.Client, userID string) error {
	named := func(s *sql.Selector) {
		s.Where(sql.P(func(b *sql.Builder) {
			b.WriteString("CAST(").Ident(s.C(approval.FieldDecisions)).WriteString(" AS TEXT) LIKE ").Arg("%" + userID + "%")
		}))
	}
	rows, err := db.Approval.Query().Where(named).All(ctx)
	if err != nil {
		return fmt.Errorf("look for the user's decisions: %w", err)
	}
	for _, row := range rows {
		list, err := DecisionsOf(row)
		if err != nil {
			return err
		}
		for _, d := range list {
			if d.By == userID {
				d.Comment = ""
			}
		}
		raw, err := json.Marshal(list)
		if err != nil {
			return fmt.Errorf("write the decisions: %w", err)
		}
		if err := row.Update().SetDecisions(raw).Exec(ctx); err != nil {
			return fmt.Errorf("erase what was said to an approval: %w", err)
		}
	}
	return nil
}
