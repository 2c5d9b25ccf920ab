// Package party says who has a part in a request because its workflow gave them one: those who approve, who work its tasks
// (in person or by a team), and who are consulted. Whatever their role reaches, they read the request and its public comments,
// and comment on it; nothing else follows from it. The part stays when the task or the approval has ended.
//
// It is computed from the rows of tasks, approvals and executions, and asked for only where the caller's role does not reach
// the request anyway.
package party

import (
	"context"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/teammember"
	"atrium/internal/op"
)

// Approves matches the approvals that a user decides, or one of its teams.
func Approves(userID string) predicate.Approval {
	return func(s *sql.Selector) {
		s.Where(named(s.C(approval.FieldApprovers), s.C(approval.FieldCompanyID), userID))
	}
}

// Works matches the tasks that a user has, or one of its teams.
func Works(userID string) predicate.Task {
	return func(s *sql.Selector) { s.Where(works(s, userID)) }
}

// Has matches the requests in which a user has a part.
func Has(userID string) predicate.Request {
	return func(s *sql.Selector) {
		of := func(table, requestID, companyID string, where func(t *sql.SelectTable) *sql.Predicate) *sql.Predicate {
			t := sql.Table(table)
			return sql.Exists(sql.Select(t.C(requestID)).From(t).Where(sql.And(
				sql.ColumnsEQ(t.C(companyID), s.C(request.FieldCompanyID)), sql.ColumnsEQ(t.C(requestID), s.C(request.FieldID)), where(t))))
		}
		s.Where(sql.Or(
			of(task.Table, task.FieldRequestID, task.FieldCompanyID, func(t *sql.SelectTable) *sql.Predicate { return works(t, userID) }),
			of(approval.Table, approval.FieldRequestID, approval.FieldCompanyID, func(t *sql.SelectTable) *sql.Predicate {
				return named(t.C(approval.FieldApprovers), t.C(approval.FieldCompanyID), userID)
			}),
			of(execution.Table, execution.FieldRequestID, execution.FieldCompanyID, func(t *sql.SelectTable) *sql.Predicate {
				return named(t.C(execution.FieldConsulted), t.C(execution.FieldCompanyID), userID)
			}),
		))
	}
}

// works matches the tasks of a selection that a user has, or one of its teams.
func works(of interface{ C(column string) string }, userID string) *sql.Predicate {
	return sql.Or(sql.EQ(of.C(task.FieldAssigneeID), userID), teams(of.C(task.FieldCompanyID), userID, func(teamID string) *sql.Predicate {
		return sql.ColumnsEQ(teamID, of.C(task.FieldTeamID))
	}))
}

// named matches a document that holds the id of a user, or of one of its teams. Ids are of one length, and these documents hold
// types and ids alone.
func named(document, companyID, userID string) *sql.Predicate {
	holds := func(id func(b *sql.Builder)) *sql.Predicate {
		return sql.P(func(b *sql.Builder) {
			b.WriteString("CAST(").Ident(document).WriteString(" AS TEXT) LIKE '%\"' || ")
			id(b)
			b.WriteString(" || '\"%'")
		})
	}
	return sql.Or(holds(func(b *sql.Builder) { b.WriteString("CAST(").Arg(userID).WriteString(" AS TEXT)") }),
		teams(companyID, userID, func(teamID string) *sql.Predicate { return holds(func(b *sql.Builder) { b.Ident(teamID) }) }))
}

// teams matches where one of a user's teams does.
func teams(companyID, userID string, where func(teamID string) *sql.Predicate) *sql.Predicate {
	m := sql.Table(teammember.Table)
	return sql.Exists(sql.Select(m.C(teammember.FieldTeamID)).From(m).Where(sql.And(
		sql.ColumnsEQ(m.C(teammember.FieldCompanyID), companyID), sql.EQ(m.C(teammember.FieldUserID), userID), where(m.C(teammember.FieldTeamID)))))
}

// Reach lets a caller whose role reaches its own requests alone reach a row of this one, too, where it has a part in it: the
// request itself, or a comment on it.
func Reach(ctx context.Context, tx *op.Tx, row any, r *ent.Request) error {
	if !tx.OwnOnly() || r.CreatedBy == tx.Principal().ID {
		return nil
	}
	has, err := tx.Request.Query().Where(request.ID(r.ID), Has(tx.Principal().ID)).Exist(tx.Unfiltered(ctx, "access policies look at the row itself"))
	if err != nil {
		return fmt.Errorf("look for the caller's part in the request: %w", err)
	}
	if has {
		tx.Reach(row)
	}
	return nil
}
