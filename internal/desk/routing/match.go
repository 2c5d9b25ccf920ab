package routing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/routingrule"
	"atrium/internal/op"
	"atrium/internal/workflow/definition"
)

const known = "routing rules" // the key under which a company's compiled rules are cached

// maxMatch is how long the conditions of all rules may take together for one request. Most take microseconds; a machine that is busy for
// a tenth of a second must not send the request elsewhere.
const maxMatch = 500 * time.Millisecond

// compiled is an enabled rule with its compiled condition.
type compiled struct {
	id   string
	at   time.Time // its updatedAt
	when *definition.Condition
}

// Match is the first rule that holds for a request.
type Match struct {
	id string
	at time.Time
}

// Prepare returns the first rule that holds for a request that is about to be filed; nil if none does. request returns the
// request as expressions see it. Call Prepare in a preparation, which runs outside of transactions and sees all rows.
func Prepare(ctx context.Context, tx *op.Tx, request func() (map[string]any, error)) (*Match, error) {
	rules, err := op.Known(ctx, tx, known, func(ctx context.Context) ([]compiled, error) { return compile(ctx, tx) })
	if err != nil || len(rules) == 0 {
		return nil, err
	}
	var match *Match
	find := func(ctx context.Context) error {
		until := time.Now().Add(maxMatch)
		ctx, _ = definition.WithBudget(ctx, maxMatch)
		variables, err := request()
		if err != nil {
			return err
		}
		b := definition.Vars{Request: variables}.Bind()
		for _, r := range rules {
			if r.when.Holds(ctx, b) {
				match = &Match{r.id, r.at}
				return nil
			}
			if time.Now().After(until) {
				break
			}
		}
		return ctx.Err()
	}
	if slices.ContainsFunc(rules, func(r compiled) bool { return r.when.Costly() }) {
		err = tx.Costly(ctx, find)
	} else {
		err = find(ctx)
	}
	return match, err
}

// compile reads and compiles the company's enabled rules in order.
func compile(ctx context.Context, tx *op.Tx) ([]compiled, error) {
	rows, err := tx.RoutingRule.Query().Where(routingrule.Enabled(true)).
		Order(routingrule.ByPosition(), routingrule.ByCreatedAt(), routingrule.ByID()).All(ctx)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	rules := make([]compiled, 0, len(rows))
	err = tx.Costly(ctx, func(ctx context.Context) error {
		for _, row := range rows {
			when, faults := definition.ParseCondition(ctx, "when", row.When)
			if len(faults) > 0 { // it was saved when other expressions were accepted; it is left out
				tx.Warn(ctx, "a routing rule cannot be compiled", "rule", row.ID, "error", faults[0].Message)
				continue
			}
			rules = append(rules, compiled{row.ID, row.UpdatedAt, when})
		}
		return nil
	})
	return rules, err
}

// Routed is the result of a rule for a request.
type Routed struct {
	RuleID     string
	TeamID     *string
	AssigneeID *string
	Priority   *string
}

// Route returns the result of the rule for the request, in the transaction that files it. team and assignee are those that the
// caller has named. Returns op.ErrOutdated when the rule has changed since Prepare.
func (m *Match) Route(ctx context.Context, tx *op.Tx, team, assignee *string) (*Routed, error) {
	ctx = tx.Unfiltered(ctx, "rules bind everybody who files, and name teams and people that they may not see")
	rule, err := tx.RoutingRule.Get(ctx, m.id)
	if err != nil && !ent.IsNotFound(err) {
		return nil, fmt.Errorf("read the routing rule: %w", err)
	}
	if err != nil || !rule.UpdatedAt.Equal(m.at) {
		tx.Forget(known)
		return nil, op.ErrOutdated
	}
	out := &Routed{RuleID: rule.ID, TeamID: team, AssigneeID: assignee}
	if rule.Priority != nil {
		p := string(*rule.Priority)
		out.Priority = &p
	}
	if team != nil || rule.TeamID == nil {
		return out, nil
	}
	out.TeamID = rule.TeamID
	if assignee == nil {
		out.AssigneeID, err = choose(ctx, tx, rule)
	}
	return out, err
}
