package participant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/approval"
	"atrium/ent/execution"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/ent/teammember"
	"atrium/ent/watcher"
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

// Asked matches the tasks of phases about which the user, or one of the user's teams, was consulted or informed.
func Asked(userID string) predicate.Task {
	return func(s *sql.Selector) {
		s.Where(askedAbout(s.C(task.FieldCompanyID), s.C(task.FieldExecutionID), s.C(task.FieldPhaseID), userID))
	}
}

// AskedToo is Asked for approvals: what a phase decides, and the sign-offs of its task.
func AskedToo(userID string) predicate.Approval {
	return func(s *sql.Selector) {
		s.Where(askedAbout(s.C(approval.FieldCompanyID), s.C(approval.FieldExecutionID), s.C(approval.FieldPhaseID), userID))
	}
}

// askedAbout matches when the execution has consulted or informed the user about the phase.
func askedAbout(companyID, executionID, phaseID, userID string) *sql.Predicate {
	t := sql.Table(execution.Table)
	return sql.Exists(sql.Select(t.C(execution.FieldID)).From(t).Where(sql.And(
		sql.ColumnsEQ(t.C(execution.FieldCompanyID), companyID), sql.ColumnsEQ(t.C(execution.FieldID), executionID),
		namedAbout(t.C(execution.FieldConsulted), t.C(execution.FieldCompanyID), userID, phaseID))))
}

// About is what Execution.consulted holds of somebody who was consulted or informed about a phase, besides their id.
func About(phaseID, id string) string { return phaseID + ":" + id }

// Mine matches the requests that the user filed, and those that somebody filed for the user.
func Mine(userID string) predicate.Request {
	return request.Or(request.CreatedBy(userID), request.RequesterID(userID))
}

// Reaches matches the requests that somebody reaches whose role reaches their own alone: their own ones, and those in which they take
// part.
func Reaches(userID string) predicate.Request {
	return request.Or(Mine(userID), Has(userID))
}

// Watches matches the requests that the user watches.
func Watches(userID string) predicate.Request {
	return func(s *sql.Selector) {
		t := sql.Table(watcher.Table)
		s.Where(sql.In(s.C(request.FieldID), sql.Select(t.C(watcher.FieldRequestID)).From(t).Where(sql.And(
			sql.ColumnsEQ(t.C(watcher.FieldCompanyID), s.C(request.FieldCompanyID)), sql.EQ(t.C(watcher.FieldUserID), userID)))))
	}
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
// ids have the same length, and these documents hold only types, ids and what About returns.
func named(document, companyID, userID string) *sql.Predicate {
	return namedAbout(document, companyID, userID, "")
}

// namedAbout is named for documents that hold About the phase in a column, if one is given. The search knows no wildcards, as ids of
// phases have underscores.
func namedAbout(document, companyID, userID, phaseID string) *sql.Predicate {
	holds := func(id func(b *sql.Builder)) *sql.Predicate {
		return sql.P(func(b *sql.Builder) {
			find := "instr("
			if b.Dialect() == dialect.Postgres {
				find = "strpos("
			}
			b.WriteString(find + "CAST(").Ident(document).WriteString(" AS TEXT), '\"' || ")
			if phaseID != "" {
				b.Ident(phaseID).WriteString(" || ':' || ")
			}
			id(b)
			b.WriteString(" || '\"') > 0")
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

// InRequest reports whether the user takes part in a request, or in the request of a comment.
func InRequest(ctx context.Context, tx *op.Tx, row any, userID string) (bool, error) {
	var id string
	switch row := row.(type) {
	case *ent.Request:
		id = row.ID
	case *ent.Comment:
		id = row.RequestID
	case *ent.Attachment:
		if row.RequestID == nil {
			return false, nil
		}
		id = *row.RequestID
	}
	has, err := tx.Request.Query().Where(request.ID(id), Reaches(userID)).
		Exist(tx.Unfiltered(ctx, "access policies look at the row itself"))
	if err != nil {
		return false, fmt.Errorf("look for the user's part in the request: %w", err)
	}
	return has, nil
}

// InTask reports whether the user works on a task as a member of its team.
func InTask(ctx context.Context, tx *op.Tx, row any, userID string) (bool, error) {
	t, ok := row.(*ent.Task)
	if !ok || t.TeamID == nil {
		return false, nil
	}
	member, err := tx.TeamMember.Query().Where(teammember.TeamID(*t.TeamID), teammember.UserID(userID)).
		Exist(tx.Unfiltered(ctx, "who works for a team does so whatever it sees of it"))
	if err != nil {
		return false, fmt.Errorf("look for the team's members: %w", err)
	}
	return member, nil
}

// SeesTask reports whether the user works on a task as a member of its team, or was asked about its phase.
func SeesTask(ctx context.Context, tx *op.Tx, row any, userID string) (bool, error) {
	if in, err := InTask(ctx, tx, row, userID); in || err != nil {
		return in, err
	}
	t, ok := row.(*ent.Task)
	if !ok {
		return false, nil
	}
	asked, err := tx.Task.Query().Where(task.ID(t.ID), Asked(userID)).Exist(tx.Unfiltered(ctx, "who is asked sees what about"))
	if err != nil {
		return false, fmt.Errorf("look for whom the task's phase asks: %w", err)
	}
	return asked, nil
}

// InApproval reports whether the user decides an approval, in person or for a team.
func InApproval(ctx context.Context, tx *op.Tx, row any, userID string) (bool, error) {
	a, ok := row.(*ent.Approval)
	if !ok {
		return false, nil
	}
	decides, err := tx.Approval.Query().Where(approval.ID(a.ID), Approves(userID)).Exist(tx.Unfiltered(ctx, "who decides does so whatever it sees of its team"))
	if err != nil {
		return false, fmt.Errorf("look for the user among the approvers: %w", err)
	}
	return decides, nil
}

// SeesApproval reports whether the user decides an approval, in person or for a team, or was asked about its phase.
func SeesApproval(ctx context.Context, tx *op.Tx, row any, userID string) (bool, error) {
	if in, err := InApproval(ctx, tx, row, userID); in || err != nil {
		return in, err
	}
	a, ok := row.(*ent.Approval)
	if !ok {
		return false, nil
	}
	asked, err := tx.Approval.Query().Where(approval.ID(a.ID), AskedToo(userID)).Exist(tx.Unfiltered(ctx, "who is asked sees what about"))
	if err != nil {
		return false, fmt.Errorf("look for whom the approval's phase asks: %w", err)
	}
	return asked, nil
}

// Deciders returns the ids of the users and teams that decide an approval, and of the users who have.
func Deciders(a *ent.Approval) (ids, have []string, err error) {
	var approvers []struct{ ID string }
	var decisions []struct{ By string }
	if err := cmp.Or(unmarshal(a.Approvers, &approvers), unmarshal(a.Decisions, &decisions)); err != nil {
		return nil, nil, fmt.Errorf("read the approval %s: %w", a.ID, err)
	}
	for _, who := range approvers {
		ids = append(ids, who.ID)
	}
	for _, d := range decisions {
		have = append(have, d.By)
	}
	return ids, have, nil
}

func unmarshal(document json.RawMessage, to any) error {
	if len(document) == 0 {
		return nil
	}
	return json.Unmarshal(document, to)
}
