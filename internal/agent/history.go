package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// maxHistory is the maximum number of finished requests that a plan uses, the newest ones.
const maxHistory = 500

// readHistory returns the finished requests that both its caller and another principal may read. The statement carries both row
// filters.
var readHistory = op.New("request.finished", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Read finished requests, for an agent to learn from",
}, listHistory)

// historyInput names the second reader. Only workers fill it in, never a caller.
type historyInput struct {
	Also *principal.Principal `json:"-"` // nil for none
	Not  []string             `json:"-"` // requests to leave out
	Only []string             `json:"-"` // the only requests to read, for a replay; nil for all
}

// history holds finished requests, and which of the offerings, teams and people that they name can still take requests.
type history struct {
	requests []*ent.Request
	present  map[string]bool
}

func listHistory(ctx context.Context, tx *op.Tx, in historyInput) (history, error) {
	q := tx.Request.Query().Where(request.StatusEQ(request.StatusCOMPLETED))
	if len(in.Not) > 0 {
		q.Where(request.IDNotIn(in.Not...))
	}
	if in.Only != nil {
		q.Where(request.IDIn(in.Only...))
	}
	if tx.OwnOnly() {
		q.Where(request.CreatedBy(tx.Principal().ID))
	}
	if in.Also != nil {
		narrow, err := readableRequests(ctx, tx, in.Also)
		if err != nil {
			return history{}, err
		}
		q.Where(narrow...)
	}
	h := history{present: map[string]bool{}}
	err := tx.Bounded(ctx, request.Table, func(ctx context.Context) (err error) {
		h.requests, err = q.Order(request.ByCreatedAt(sql.OrderDesc()), request.ByID(sql.OrderDesc())).Limit(maxHistory).
			Select(request.FieldID, request.FieldTitle, request.FieldDescription, request.FieldServiceID, request.FieldOfferingID,
				request.FieldPriority, request.FieldTags, request.FieldTeamID, request.FieldAssigneeID).All(ctx)
		return err
	})
	if err != nil {
		return h, fmt.Errorf("read finished requests: %w", err)
	}
	if err := h.lookUpOfferings(ctx, tx); err != nil {
		return h, err
	}
	return h, h.lookUp(tx.Unfiltered(ctx, "whether a team or a person is there to take more"), tx)
}

// readableRequests returns the conditions that restrict a query of requests to the rows that a principal may read.
func readableRequests(ctx context.Context, tx *op.Tx, who *principal.Principal) ([]predicate.Request, error) {
	if !who.Scopes.Has(principal.ScopeOf("requests:read")) {
		return []predicate.Request{request.ID("")}, nil // matches nothing
	}
	var where []predicate.Request
	if who.Role == principal.Member {
		where = append(where, request.CreatedBy(who.ID))
	}
	set, caller, err := tx.PoliciesOf(ctx, who)
	if err != nil {
		return nil, fmt.Errorf("read the policies: %w", err)
	}
	if rows := tx.Authz().Rows(set, caller); rows != nil {
		if narrow := rows.Narrow("Request"); narrow != nil {
			where = append(where, narrow)
		}
	}
	return where, nil
}

// lookUpOfferings records which offerings are active, among those that the reader sees.
func (h *history) lookUpOfferings(ctx context.Context, tx *op.Tx) error {
	offerings := map[string]bool{}
	for _, r := range h.requests {
		offerings[r.OfferingID] = true
	}
	active, err := tx.Offering.Query().Where(offering.IDIn(slices.Collect(maps.Keys(offerings))...), offering.StatusEQ(offering.StatusActive),
		offering.HasServiceWith(service.StatusEQ(service.StatusActive))).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look the offerings up: %w", err)
	}
	for _, id := range active {
		h.present[id] = true
	}
	return nil
}

// lookUp records which teams exist and which people are active.
func (h *history) lookUp(ctx context.Context, tx *op.Tx) error {
	teams, people := map[string]bool{}, map[string]bool{}
	for _, r := range h.requests {
		if r.TeamID != nil {
			teams[*r.TeamID] = true
		}
		if r.AssigneeID != nil {
			people[*r.AssigneeID] = true
		}
	}
	there, err := tx.Team.Query().Where(team.IDIn(slices.Collect(maps.Keys(teams))...)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look the teams up: %w", err)
	}
	active, err := tx.User.Query().Where(user.IDIn(slices.Collect(maps.Keys(people))...), user.StatusEQ(user.StatusActive)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look the people up: %w", err)
	}
	for _, id := range append(there, active...) {
		h.present[id] = true
	}
	return nil
}
