package graph

import (
	"context"
	"encoding/json"
	"time"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
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
	return resolve.Run(ctx, r.Engine, runs.Stats, runs.StatsInput{Input: period.Input{From: from, To: to}, By: string(by)})
}

func (r *mutationResolver) StopAllAgents(ctx context.Context, input runs.StopAllInput) (*generated.StopAllAgentsPayload, error) {
	out, err := resolve.Change(ctx, r.Engine, runs.StopAll, input, "")
	if err != nil {
		return nil, err
	}
	return &generated.StopAllAgentsPayload{Runs: out.Runs, Agents: out.Agents}, nil
}

func (r *mutationResolver) CreateAgent(ctx context.Context, input agent.CreateInput) (*generated.CreateAgentPayload, error) {
	a, err := resolve.Change(ctx, r.Engine, agent.Create, input, "")
	return &generated.CreateAgentPayload{Agent: a.Agent, SigningSecret: resolve.TextOrNil(string(a.SigningSecret))}, err
}

func (r *mutationResolver) RotateAgentSecret(ctx context.Context, input agent.RotateSecretInput) (*generated.RotateAgentSecretPayload, error) {
	a, err := resolve.Change(ctx, r.Engine, agent.RotateSecret, input, "id")
	return &generated.RotateAgentSecretPayload{Agent: a.Agent, SigningSecret: string(a.SigningSecret)}, err
}

func (r *mutationResolver) EvaluateAgent(ctx context.Context, input evaluation.EvaluateInput) (*generated.EvaluateAgentPayload, error) {
	begun, err := resolve.Change(ctx, r.Engine, evaluation.Evaluate, input, "id")
	if err != nil {
		return nil, err
	}
	return &generated.EvaluateAgentPayload{Evaluation: begun.Evaluation}, nil
}

func (r *mutationResolver) TestAgent(ctx context.Context, input evaluation.TestInput) (*generated.TestAgentPayload, error) {
	trial, err := resolve.Change(ctx, r.Engine, evaluation.Test, input, "id")
	return &generated.TestAgentPayload{AgentRun: trial}, err
}

func (r *mutationResolver) ReplayAgentRun(ctx context.Context, input evaluation.ReplayInput) (*generated.ReplayAgentRunPayload, error) {
	trial, err := resolve.Change(ctx, r.Engine, evaluation.Replay, input, "id")
	return &generated.ReplayAgentRunPayload{AgentRun: trial}, err
}

func (r *mutationResolver) CreateAgentKey(ctx context.Context, input agent.CreateKeyInput) (*generated.CreateAgentKeyPayload, error) {
	k, err := resolve.Change(ctx, r.Engine, agent.CreateKey, input, "")
	return &generated.CreateAgentKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *subscriptionResolver) AgentRunChanged(ctx context.Context, id *string, filter *runs.ListRunsInput) (<-chan *generated.AgentRunChange, error) {
	in := runs.LookUpRunsInput{ListRunsInput: op.Or(filter, runs.ListRunsInput{})}
	return watch(ctx, watched{feed.AgentRuns, feed.Filter{ID: op.Or(id, "")}}, readable(r.Engine, id, runs.Get, func(ctx context.Context, ids, _ []string) (map[string]*ent.AgentRun, error) {
		in.IDs = ids
		return resolve.Run(ctx, r.Engine, runs.LookUp, in)
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
	return resolve.Children(ctx, r.Engine, a, func(a *ent.Agent) string { return a.ID }, evaluation.EvaluationsOf, first, after, resolve.Same[ent.AgentEvaluation])
}

func (r *agentResolver) Versions(ctx context.Context, a *ent.Agent, first *int, after *string) (*relay.Connection[ent.AgentVersion], error) {
	return resolve.Children(ctx, r.Engine, a, func(a *ent.Agent) string { return a.ID }, agent.VersionsOf, first, after, resolve.Same[ent.AgentVersion])
}

func (r *agentRunResolver) Steps(_ context.Context, run *ent.AgentRun) ([]*runs.Step, error) {
	return runs.StepsOf(run)
}

func (r *agentRunResolver) Actions(ctx context.Context, run *ent.AgentRun, first *int, after *string) (*relay.Connection[ent.AgentAction], error) {
	return resolve.Children(ctx, r.Engine, run, func(run *ent.AgentRun) string { return run.ID }, actions.OfRuns, first, after, resolve.Same[ent.AgentAction])
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
	return resolve.Children(ctx, r.Engine, q, func(q *ent.Request) string { return q.ID }, runs.RunsOf, first, after, resolve.Same[ent.AgentRun])
}
