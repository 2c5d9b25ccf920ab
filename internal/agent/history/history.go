package history

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"entgo.io/ent/dialect/sql"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/ent/service"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/op"
)

// Max is the maximum number of finished requests that a plan uses, the newest ones.
const Max = 500

// Read returns the newest finished requests that the caller may read.
var Read = op.New("request.finished", op.Spec{
	Resource: "Request", Action: op.Read, Scope: "requests:read", Summary: "Read finished requests, for an agent to learn from",
}, listHistory)

// Input is filled in by workers alone, never by a caller.
type Input struct {
	Not  []string `json:"-"` // requests to leave out
	Only []string `json:"-"` // the only requests to read, for a replay; nil for all
}

// Finished holds finished requests, and which of the offerings, teams and people that they name can still take requests.
type Finished struct {
	Requests []*ent.Request
	Present  map[string]bool
}

func listHistory(ctx context.Context, tx *op.Tx, in Input) (Finished, error) {
	q := tx.Request.Query().Where(request.StatusEQ(request.StatusCOMPLETED))
	if len(in.Not) > 0 {
		q.Where(request.IDNotIn(in.Not...))
	}
	if in.Only != nil {
		q.Where(request.IDIn(in.Only...))
	}
	if tx.OwnOnly() {
		q.Where(request.RequesterID(tx.Principal().ID))
	}
	rows, err := q.Order(request.ByCreatedAt(sql.OrderDesc()), request.ByID(sql.OrderDesc())).Limit(Max).
		Select(request.FieldID, request.FieldStatus, request.FieldTitle, request.FieldDescription, request.FieldServiceID, request.FieldOfferingID,
			request.FieldPriority, request.FieldTags, request.FieldTeamID, request.FieldAssigneeID).All(ctx)
	if err != nil {
		return Finished{}, fmt.Errorf("read finished requests: %w", err)
	}
	h := Finished{Requests: rows, Present: map[string]bool{}}
	if err := h.lookUpOfferings(ctx, tx); err != nil {
		return h, err
	}
	return h, h.lookUp(tx.Unfiltered(ctx, "whether a team or a person is there to take more"), tx)
}

// lookUpOfferings records which offerings are active, among those that the reader sees.
func (h *Finished) lookUpOfferings(ctx context.Context, tx *op.Tx) error {
	offerings := map[string]bool{}
	for _, r := range h.Requests {
		offerings[r.OfferingID] = true
	}
	active, err := tx.Offering.Query().Where(offering.IDIn(slices.Collect(maps.Keys(offerings))...), offering.StatusEQ(offering.StatusActive),
		offering.HasServiceWith(service.StatusEQ(service.StatusActive))).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look the offerings up: %w", err)
	}
	for _, id := range active {
		h.Present[id] = true
	}
	return nil
}

// lookUp records which teams exist and which people are active.
func (h *Finished) lookUp(ctx context.Context, tx *op.Tx) error {
	teams, people := map[string]bool{}, map[string]bool{}
	for _, r := range h.Requests {
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
		h.Present[id] = true
	}
	return nil
}
