package graph

import (
	"context"
	"encoding/json"
	"time"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/agent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/notify/feed"
	"atrium/internal/op"
	"atrium/internal/platform/period"
)

func (r *queryResolver) AgentStats(ctx context.Context, from, to time.Time, by generated.AgentStatsBy) ([]*runs.Stat, error) {
	return run(ctx, r.engine, runs.Stats, runs.StatsInput{Input: period.Input{From: from, To: to}, By: string(by)})
}

func (r *mutationResolver) StopAllAgents(ctx context.Context, input runs.StopAllInput) (*generated.StopAllAgentsPayload, error) {
	out, err := change(ctx, r.engine, runs.StopAll, input, "")
	if err != nil {
		return nil, err
	}
	return &generated.StopAllAgentsPayload{Runs: out.Runs, Agents: out.Agents}, nil
}

func (r *mutationResolver) CreateAgent(ctx context.Context, input agent.CreateInput) (*generated.CreateAgentPayload, error) {
	a, err := change(ctx, r.engine, agent.Create, input, "")
	return &generated.CreateAgentPayload{Agent: a.Agent, SigningSecret: textOrNil(string(a.SigningSecret))}, err
}

func (r *mutationResolver) RotateAgentSecret(ctx context.Context, input agent.RotateSecretInput) (*generated.RotateAgentSecretPayload, error) {
	a, err := change(ctx, r.engine, agent.RotateSecret, input, "id")
	return &generated.RotateAgentSecretPayload{Agent: a.Agent, SigningSecret: string(a.SigningSecret)}, err
}

func (r *mutationResolver) EvaluateAgent(ctx context.Context, input evaluation.EvaluateInput) (*generated.EvaluateAgentPayload, error) {
	begun, err := change(ctx, r.engine, evaluation.Evaluate, input, "id")
	if err != nil {
		return nil, err
	}
	return &generated.EvaluateAgentPayload{Evaluation: begun.Evaluation}, nil
}

func (r *mutationResolver) TestAgent(ctx context.Context, input evaluation.TestInput) (*generated.TestAgentPayload, error) {
	trial, err := change(ctx, r.engine, evaluation.Test, input, "id")
	return &generated.TestAgentPayload{AgentRun: trial}, err
}

func (r *mutationResolver) ReplayAgentRun(ctx context.Context, input evaluation.ReplayInput) (*generated.ReplayAgentRunPayload, error) {
	trial, err := change(ctx, r.engine, evaluation.Replay, input, "id")
	return &generated.ReplayAgentRunPayload{AgentRun: trial}, err
}

func (r *mutationResolver) CreateAgentKey(ctx context.Context, input agent.CreateKeyInput) (*generated.CreateAgentKeyPayload, error) {
	k, err := change(ctx, r.engine, agent.CreateKey, input, "")
	return &generated.CreateAgentKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *subscriptionResolver) AgentRunChanged(ctx context.Context, id *string, filter *runs.ListRunsInput) (<-chan *generated.AgentRunChange, error) {
	in := runs.LookUpRunsInput{ListRunsInput: op.Or(filter, runs.ListRunsInput{})}
	return watch(ctx, watched{feed.AgentRuns, feed.Filter{ID: op.Or(id, "")}}, readable(r.engine, id, runs.Get, func(ctx context.Context, ids, _ []string) (map[string]*ent.AgentRun, error) {
		in.IDs = ids
		return run(ctx, r.engine, runs.LookUp, in)
	}), func(kind generated.ChangeKind, run *ent.AgentRun) *generated.AgentRunChange {
		return &generated.AgentRunChange{Change: kind, AgentRun: run}
	})
}

func (r *agentResolver) Tools(_ context.Context, a *ent.Agent) ([]*settings.Tool, error) {
	return settings.ToolsOf(a)
}

func (r *agentResolver) Limits(_ context.Context, a *ent.Agent) (*settings.Limits, error) {
	limits, err := settings.LimitsOf(a)
	return &limits, err
}

func (r *agentResolver) Evaluations(ctx context.Context, a *ent.Agent, first *int, after *string) (*relay.Connection[ent.AgentEvaluation], error) {
	return resolveChildren(ctx, r.engine, a, func(a *ent.Agent) string { return a.ID }, evaluation.EvaluationsOf, first, after, same[ent.AgentEvaluation])
}

func (r *agentResolver) Versions(ctx context.Context, a *ent.Agent, first *int, after *string) (*relay.Connection[ent.AgentVersion], error) {
	return resolveChildren(ctx, r.engine, a, func(a *ent.Agent) string { return a.ID }, agent.VersionsOf, first, after, same[ent.AgentVersion])
}

func (r *agentRunResolver) Steps(_ context.Context, run *ent.AgentRun) ([]*runs.Step, error) {
	return runs.StepsOf(run)
}

func (r *agentRunResolver) Actions(ctx context.Context, run *ent.AgentRun, first *int, after *string) (*relay.Connection[ent.AgentAction], error) {
	return resolveChildren(ctx, r.engine, run, func(run *ent.AgentRun) string { return run.ID }, actions.OfRuns, first, after, same[ent.AgentAction])
}

func (r *agentActionResolver) Changes(_ context.Context, a *ent.AgentAction) ([]*tools.Change, error) {
	return actions.ChangesOf(a)
}

func (r *agentChangeResolver) From(_ context.Context, c *tools.Change) (json.RawMessage, error) {
	return json.Marshal(c.From)
}

func (r *agentChangeResolver) To(_ context.Context, c *tools.Change) (json.RawMessage, error) {
	return json.Marshal(c.To)
}

func (r *requestResolver) AgentRuns(ctx context.Context, q *ent.Request, first *int, after *string) (*relay.Connection[ent.AgentRun], error) {
	return resolveChildren(ctx, r.engine, q, func(q *ent.Request) string { return q.ID }, runs.RunsOf, first, after, same[ent.AgentRun])
}
