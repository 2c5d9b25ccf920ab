// Package party decides who takes part in a request because of its workflow: the approvers, the people who work on its tasks
// (themselves or through a team), and the people who are consulted. Whatever their role allows, they may read the request and
// its public comments, and comment on it; they get no other right. They keep this access after the task or approval has ended.
//
// The operations on requests, comments, tasks and approvals call it. It computes the answer from the rows of tasks, approvals
// and executions, stores nothing, and runs a query only if the caller's role alone does not give access to the request.
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

// Approves matches the approvals that the user, or one of the user's teams, decides.
func Approves(userID string) predicate.Approval {
	return func(s *sql.Selector) {
		s.Where(named(s.C(approval.FieldApprovers), s.C(approval.FieldCompanyID), userID))
	}
}

// Works matches the tasks that are assigned to the user or to one of the user's teams.
func Works(userID string) predicate.Task {
	return func(s *sql.Selector) { s.Where(works(s, userID)) }
}

// Has matches the requests in which the user takes part.
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

// works matches the tasks of a selection that are assigned to the user or to one of the user's teams.
func works(of interface{ C(column string) string }, userID string) *sql.Predicate {
	return sql.Or(sql.EQ(of.C(task.FieldAssigneeID), userID), teams(of.C(task.FieldCompanyID), userID, func(teamID string) *sql.Predicate {
		return sql.ColumnsEQ(teamID, of.C(task.FieldTeamID))
	}))
}

// named matches JSON documents that hold the id of the user or of one of the user's teams. A substring search is exact here: all
// ids have the same length, and these documents hold only types and ids.
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

// teams matches when where matches one of the user's teams.
func teams(companyID, userID string, where func(teamID string) *sql.Predicate) *sql.Predicate {
	m := sql.Table(teammember.Table)
	return sql.Exists(sql.Select(m.C(teammember.FieldTeamID)).From(m).Where(sql.And(
		sql.ColumnsEQ(m.C(teammember.FieldCompanyID), companyID), sql.EQ(m.C(teammember.FieldUserID), userID), where(m.C(teammember.FieldTeamID)))))
}

// GrantParticipant gives access to row, which is the request r or a comment on it, to a caller whose role reaches only its own requests
// and who takes part in r.
func GrantParticipant(ctx context.Context, tx *op.Tx, row any, r *ent.Request) error {
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
