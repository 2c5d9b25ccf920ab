// Package party decides who takes part in a request because of its workflow: the approvers, the people who work on its tasks
// (themselves or through a team), and the people who are consulted. Whatever their role allows, they may read the request and
// its public comments, and comment on it; they get no other right. They keep this access after the task or approval has ended.
//
// The operations on requests, comments, tasks and approvals call it. It computes the answer from the rows of tasks, approvals
// and executions and stores nothing. For a single request it runs a query only if the caller's role alone does not give access.
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

// part is one way to take part in a request: a table whose rows name the request, and which of its rows are the user's.
type part struct {
	table, requestID, companyID string
	mine                        func(t *sql.SelectTable, companyID, userID string) *sql.Predicate
}

var parts = []part{
	{task.Table, task.FieldRequestID, task.FieldCompanyID, func(t *sql.SelectTable, _, userID string) *sql.Predicate {
		return sql.EQ(t.C(task.FieldAssigneeID), userID)
	}},
	{task.Table, task.FieldRequestID, task.FieldCompanyID, func(t *sql.SelectTable, companyID, userID string) *sql.Predicate {
		m := sql.Table(teammember.Table)
		return sql.In(t.C(task.FieldTeamID), sql.Select(m.C(teammember.FieldTeamID)).From(m).
			Where(sql.And(sql.EQ(m.C(teammember.FieldCompanyID), companyID), sql.EQ(m.C(teammember.FieldUserID), userID))))
	}},
	{approval.Table, approval.FieldRequestID, approval.FieldCompanyID, func(t *sql.SelectTable, _, userID string) *sql.Predicate {
		return named(t.C(approval.FieldApprovers), t.C(approval.FieldCompanyID), userID)
	}},
	{execution.Table, execution.FieldRequestID, execution.FieldCompanyID, func(t *sql.SelectTable, _, userID string) *sql.Predicate {
		return sql.And(sql.NotNull(t.C(execution.FieldConsulted)), named(t.C(execution.FieldConsulted), t.C(execution.FieldCompanyID), userID))
	}},
}

// Has matches the requests in which the user takes part. It asks about each request, so it is for requests whose ids are known.
func Has(companyID, userID string) predicate.Request {
	return func(s *sql.Selector) {
		some := make([]*sql.Predicate, len(parts))
		for i, p := range parts {
			t := sql.Table(p.table)
			some[i] = sql.Exists(sql.Select(t.C(p.requestID)).From(t).Where(sql.And(
				sql.EQ(t.C(p.companyID), companyID), sql.ColumnsEQ(t.C(p.requestID), s.C(request.FieldID)), p.mine(t, companyID, userID))))
		}
		s.Where(sql.Or(some...))
	}
}

// Reads matches the requests that the user created or takes part in. It finds these first, each kind by its index, so it is for lists
// and counts: for each request of a company, Has would look into three tables.
func Reads(companyID, userID string) predicate.Request {
	return func(s *sql.Selector) {
		t := sql.Table(request.Table)
		all := sql.Select(t.C(request.FieldID)).From(t).
			Where(sql.And(sql.EQ(t.C(request.FieldCompanyID), companyID), sql.EQ(t.C(request.FieldCreatedBy), userID)))
		for _, p := range parts {
			t := sql.Table(p.table)
			all.Union(sql.Select(t.C(p.requestID)).From(t).Where(sql.And(sql.EQ(t.C(p.companyID), companyID), p.mine(t, companyID, userID))))
		}
		s.Where(sql.In(s.C(request.FieldID), all))
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
	has, err := tx.Request.Query().Where(request.ID(r.ID), Has(r.CompanyID, tx.Principal().ID)).Exist(tx.Unfiltered(ctx, "access policies look at the row itself"))
	if err != nil {
		return fmt.Errorf("look for the caller's part in the request: %w", err)
	}
	if has {
		tx.Reach(row)
	}
	return nil
}
