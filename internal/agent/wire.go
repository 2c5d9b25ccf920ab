package agent

import (
	"context"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/internal/agent/actions"
	"atrium/internal/agent/custom"
	"atrium/internal/agent/evaluation"
	"atrium/internal/agent/phases"
	"atrium/internal/agent/runner"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// Door is what the agents do for others: it implements gate.Agents and op.Agents, and works the agents' jobs.
type Door struct{ worker.Server }

// NewDoor returns the door of an engine, with the endpoints of models.
func NewDoor(e *op.Engine, models worker.Models) *Door {
	return &Door{worker.Server{Engine: e, Models: models}}
}

// As implements gate.Agents.
func (d *Door) As(ctx context.Context, p *principal.Principal, runID string) (*principal.Principal, error) {
	return custom.As(ctx, d.Engine, p, runID)
}

// Hold implements op.Agents.
func (*Door) Hold(ctx context.Context, e *op.Engine, h op.Held) (*op.Answer, error) {
	return custom.Hold(ctx, e, h)
}

// RequestChanged implements op.Agents.
func (*Door) RequestChanged(ctx context.Context, tx *op.Tx, before, after *ent.Request) error {
	return runs.RequestChanged(ctx, tx, before, after)
}

// OwnerLeft implements op.Agents.
func (*Door) OwnerLeft(ctx context.Context, tx *op.Tx, userID string) error {
	return runs.OwnerLeft(ctx, tx, userID)
}

// PersonErased implements op.Agents.
func (*Door) PersonErased(ctx context.Context, tx *op.Tx) error {
	if err := runs.PersonErased(ctx, tx); err != nil {
		return err
	}
	return evaluation.PersonErased(ctx, tx)
}

// PrincipalOf implements op.Agents.
func (*Door) PrincipalOf(ctx context.Context, db *ent.Client, a *ent.Agent) (*principal.Principal, string, error) {
	return settings.CallerOf(ctx, db, a)
}

// Workers of the queues on each node.
const (
	workers  = 4
	enders   = 2
	thinkers = 16
	pushers  = 16
)

// Queues lists the queues of the agents' jobs, which wait where no node works agents' runs.
var Queues = slices.Collect(maps.Keys(workersOf))

// workersOf is how many workers each queue has on a node.
var workersOf = map[string]int{execution.AgentQueue: workers, worker.DeadlineQueue: enders, worker.ModelQueue: thinkers, custom.Queue: pushers}

// Work registers the workers of the agents' jobs. out sends pushes to CUSTOM agents; nil sends none.
func (d *Door) Work(out *egress.Client) jobs.Option {
	options := []jobs.Option{d.Know(out)}
	for name, n := range workersOf {
		options = append(options, jobs.NamedQueue(name, n))
	}
	return jobs.All(options...)
}

// Know registers the kinds of the agents' jobs, for a node that works none of them.
func (d *Door) Know(out *egress.Client) jobs.Option {
	calls := &worker.Limiter{} // of models
	return jobs.All(runs.Workers(d.Engine), actions.Workers(d.Engine), runner.Workers(d.Server, calls), evaluation.Workers(d.Server, calls), phases.Workers(d.Engine), custom.Workers(d.Engine, out))
}
