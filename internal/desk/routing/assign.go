package routing

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/ent/routingrule"
	"atrium/ent/teammember"
	"atrium/ent/user"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
)

// choose returns the member of the rule's team who gets the request; nil when the rule assigns nobody or no member is active.
// Concurrent choices for a team run one after the other.
func choose(ctx context.Context, tx *op.Tx, rule *ent.RoutingRule) (*string, error) {
	if rule.AssignTo == routingrule.AssignToNone {
		return nil, nil // the team's inbox
	}
	if err := tx.LockName(ctx, "routing/"+*rule.TeamID); err != nil {
		return nil, err
	}
	members, err := tx.TeamMember.Query().Where(teammember.TeamID(*rule.TeamID), teammember.HasUserWith(user.StatusEQ(user.StatusActive))).
		Order(teammember.ByUserID()).Select(teammember.FieldUserID).Strings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the team's members: %w", err)
	}
	for len(members) > 0 {
		next, err := pick(ctx, tx, rule, members)
		if err != nil {
			return nil, err
		}
		// A deactivation that hands work over waits for the row, and then sees the request.
		active, err := op.Share(tx, tx.User.Query().Where(user.ID(next), user.StatusEQ(user.StatusActive))).Exist(ctx)
		if err != nil {
			return nil, fmt.Errorf("hold the chosen member: %w", err)
		}
		if active {
			return &next, note(ctx, tx, rule, next)
		}
		members = slices.DeleteFunc(members, func(m string) bool { return m == next }) // who has just left
	}
	return nil, nil // the team's inbox
}

// pick returns the member whom the rule prefers.
func pick(ctx context.Context, tx *op.Tx, rule *ent.RoutingRule, members []string) (string, error) {
	if rule.AssignTo == routingrule.AssignToLeastLoaded {
		return leastLoaded(ctx, tx, members)
	}
	return nextMember(ctx, tx, rule.ID, members)
}

// note records whose turn it was.
func note(ctx context.Context, tx *op.Tx, rule *ent.RoutingRule, next string) error {
	if rule.AssignTo == routingrule.AssignToLeastLoaded {
		return nil
	}
	if err := tx.RoutingRule.UpdateOneID(rule.ID).SetLastAssigneeID(next).Exec(ctx); err != nil {
		return fmt.Errorf("note whose turn it was: %w", err)
	}
	return nil
}

// leastLoaded returns the member with the fewest open requests; of several, the first.
func leastLoaded(ctx context.Context, tx *op.Tx, members []string) (string, error) {
	var counts []struct {
		Assignee string `json:"assignee_id"`
		Count    int    `json:"count"`
	}
	err := tx.Request.Query().Where(request.AssigneeIDIn(members...), lifecycle.OpenRequests()).
		GroupBy(request.FieldAssigneeID).Aggregate(ent.Count()).Scan(ctx, &counts)
	if err != nil {
		return "", fmt.Errorf("count the open requests of the team's members: %w", err)
	}
	load := make(map[string]int, len(counts))
	for _, o := range counts {
		load[o.Assignee] = o.Count
	}
	least := members[0]
	for _, m := range members[1:] {
		if load[m] < load[least] {
			least = m
		}
	}
	return least, nil
}

// nextMember returns the member after the one who was assigned last. The caller holds the team's lock.
func nextMember(ctx context.Context, tx *op.Tx, ruleID string, members []string) (string, error) {
	rule, err := tx.RoutingRule.Get(ctx, ruleID)
	if err != nil {
		return "", fmt.Errorf("read whose turn it was: %w", err)
	}
	for _, m := range members {
		if m > op.Or(rule.LastAssigneeID, "") {
			return m, nil
		}
	}
	return members[0], nil
}
