package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/predicate"
	"atrium/internal/op"
	"atrium/internal/platform/period"
)

// Stats counts the runs that began in a period by their outcomes, the outcomes of their actions, and the use of models. One
// statement reads the columns of at most 50,000 runs, another one those of their actions; Go code adds them up.
var Stats = op.New("agentrun.stats", op.Spec{
	Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Summary: "Read figures of the runs of agents of a time",
}, stats)

// maxStatsRows is the maximum number of runs per call, and of actions.
const maxStatsRows = 50_000

// StatsInput holds the period and the grouping.
type StatsInput struct {
	period.Input
	By string `json:"by" enum:"day,week,agent"`
}

// Stat holds the counts of one day, week or agent, for the runs that began in the period.
type Stat struct {
	Key        string // YYYY-MM-DD of the day, or of the week's Monday, UTC; the id of the agent
	Runs       int
	Open       int // runs that have not ended
	Completed  int // runs that did what they were allowed to
	Proposed   int // runs that ended with a proposal
	HandedOver int
	Failed     int
	Stopped    int

	// The outcomes of what the runs proposed or waited to do.
	Waiting  int
	Applied  int
	Rejected int
	Stale    int // the request changed before a decision
	Expired  int

	ModelCalls   int
	InputTokens  float64 // whole numbers; sums exceed the 32 bits of GraphQL's Int
	OutputTokens float64
}

// stats returns days and weeks in order, and agents with the most runs first. It leaves out groups without runs.
func stats(ctx context.Context, tx *op.Tx, in StatsInput) ([]*Stat, error) {
	from, to, err := in.Bounds()
	if err != nil {
		return nil, err
	}
	of := append(Shown(tx), agentrun.CreatedAtGTE(from), agentrun.CreatedAtLT(to))
	q := tx.AgentRun.Query().Where(of...).Limit(maxStatsRows + 1)
	q.Select(agentrun.FieldAgentID, agentrun.FieldCreatedAt, agentrun.FieldStatus, agentrun.FieldModelCalls, agentrun.FieldInputTokens, agentrun.FieldOutputTokens)
	runs, err := q.All(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the runs of the time: %w", err)
	case len(runs) > maxStatsRows:
		return nil, period.TooMany(maxStatsRows, "runs")
	}
	actions, err := statActions(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	all, byRun := map[string]*Stat{}, make(map[string]*Stat, len(runs))
	for _, r := range runs {
		key := r.AgentID
		if in.By != "agent" {
			key = period.Key(in.By, r.CreatedAt)
		}
		s := all[key]
		if s == nil {
			s = &Stat{Key: key}
			all[key] = s
		}
		s.run(r)
		byRun[r.ID] = s
	}
	for _, a := range actions {
		if s := byRun[a.RunID]; s != nil { // otherwise its run is hidden by policies
			s.action(a)
		}
	}
	out := make([]*Stat, 0, len(all))
	for _, s := range all {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Stat) int {
		if in.By == "agent" && a.Runs != b.Runs {
			return b.Runs - a.Runs
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out, nil
}

// statActions reads the actions of the runs. The condition on runs names the company, so that the database uses its index.
func statActions(ctx context.Context, tx *op.Tx, of []predicate.AgentRun) ([]*ent.AgentAction, error) {
	of = append(slices.Clone(of), agentrun.CompanyID(tx.Principal().CompanyID))
	q := tx.AgentAction.Query().Where(append(ShownActions(tx), agentaction.HasRunWith(of...))...).Limit(maxStatsRows + 1)
	q.Select(agentaction.FieldRunID, agentaction.FieldStatus)
	actions, err := q.All(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the actions of the runs: %w", err)
	case len(actions) > maxStatsRows:
		return nil, period.TooMany(maxStatsRows, "actions of runs")
	}
	return actions, nil
}

func (s *Stat) run(r *ent.AgentRun) {
	s.Runs++
	s.ModelCalls += r.ModelCalls
	s.InputTokens += float64(r.InputTokens)
	s.OutputTokens += float64(r.OutputTokens)
	switch r.Status {
	case agentrun.StatusQUEUED, agentrun.StatusRUNNING, agentrun.StatusWAITING:
		s.Open++
	case agentrun.StatusCOMPLETED:
		s.Completed++
	case agentrun.StatusPROPOSED:
		s.Proposed++
	case agentrun.StatusHANDED_OVER:
		s.HandedOver++
	case agentrun.StatusFAILED:
		s.Failed++
	case agentrun.StatusSTOPPED:
		s.Stopped++
	}
}

func (s *Stat) action(a *ent.AgentAction) {
	switch a.Status {
	case agentaction.StatusPENDING:
		s.Waiting++
	case agentaction.StatusAPPLIED:
		s.Applied++
	case agentaction.StatusREJECTED:
		s.Rejected++
	case agentaction.StatusSTALE:
		s.Stale++
	case agentaction.StatusEXPIRED:
		s.Expired++
	}
}

// ShownActions restricts actions to those that the caller may see.
func ShownActions(tx *op.Tx) []predicate.AgentAction {
	if seesShadows(tx) {
		return nil
	}
	return []predicate.AgentAction{agentaction.ShadowEQ(false)}
}
