package runs

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/internal/agent/settings"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Actor returns the principal as which the agent of a run acts now, and the run's settings. Returns conflict if the agent's owner
// was deactivated.
func Actor(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (*principal.Principal, settings.Settings, error) {
	self, s, err := Self(ctx, tx, run)
	if err == nil && self == nil {
		err = NoMore()
	}
	return self, s, err
}

// Self is actor that returns nil if the agent's owner was deactivated.
func Self(ctx context.Context, tx *op.Tx, run *ent.AgentRun) (*principal.Principal, settings.Settings, error) {
	ctx = tx.Unfiltered(ctx, "an agent's own settings")
	s, err := settings.Published(ctx, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, s, err
	}
	a, err := tx.Agent.Get(ctx, run.AgentID)
	if err != nil {
		return nil, s, fmt.Errorf("read the agent: %w", err)
	}
	self, err := settings.PrincipalOf(ctx, tx.Client, a, s)
	return self, s, err
}

// NoMore is the error of an agent that has lost the right to what it is about to do.
func NoMore() error { return apperr.New(apperr.Conflict, "The agent may not do this any more.") }
