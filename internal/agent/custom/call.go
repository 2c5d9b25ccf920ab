package custom

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// errNotYourRun is the error for a run that does not exist or is not the caller's.
func errNotYourRun() error {
	return apperr.New(apperr.Forbidden, "Agent-Run names no run of this agent.")
}

// As returns the caller behind an agent's key with its rights: the role and scopes of the published version, restricted to the
// key's scopes, and within a run the requester whose rights limit the reads. Any call of a run renews its lease. Returns
// forbidden if the agent was never published or its owner was deactivated.
func As(ctx context.Context, e *op.Engine, p *principal.Principal, runID string) (*principal.Principal, error) {
	read := worker.Outside(ctx, e, p.CompanyID)
	db := e.Store.Reader()
	a, err := db.Agent.Get(read, p.ID)
	if ent.IsNotFound(err) {
		return nil, apperr.Unauthenticated(err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the agent: %w", err)
	}
	if a.Version == 0 {
		return nil, apperr.New(apperr.Forbidden, "The agent was not published.")
	}
	version, run := a.Version, (*ent.AgentRun)(nil)
	noReads := error(apperr.New(apperr.Forbidden, "The agent reads what its requester may read: name the run in the header Agent-Run."))
	if runID != "" {
		if run, err = runOf(read, e, p, runID); err != nil {
			return nil, err
		}
		version, noReads = run.AgentVersion, notWorked(e.NoAgents, a, run)
	}
	s, err := settings.Published(read, db, a.ID, version)
	if err != nil {
		return nil, err
	}
	self, err := settings.PrincipalOf(read, db, a, s)
	if err != nil {
		return nil, err
	}
	if self == nil {
		return nil, apperr.New(apperr.Forbidden, runs.NobodyAnswers)
	}
	q := *p
	if run != nil && noReads == nil {
		q.Run.TaskID = op.Or(run.TaskID, "")
		if err := runs.RenewLease(read, e, run); err != nil {
			return nil, err
		}
	}
	q.Role, q.Scopes, q.Run.ID = self.Role, self.Scopes&p.Scopes, runID
	if runID != "" {
		q.Cause = &principal.Cause{RunID: runID}
	}
	for _, t := range s.Tools { // a consulted agent writes only its opinion
		if t.Mode != settings.Off && (run == nil || run.Trigger != agentrun.TriggerConsulted) {
			q.Run.Tools = append(q.Run.Tools, t.Name)
		}
	}
	if s.Sees != string(agent.SeesRequester) {
		return &q, nil
	}
	if q.Run.NoReads = noReads; noReads != nil {
		return &q, nil
	}
	r, err := db.Request.Get(read, run.RequestID)
	if err != nil {
		return nil, fmt.Errorf("read the run's request: %w", err)
	}
	q.Run.Requester, err = settings.RequesterOf(read, db, r)
	return &q, err
}

// runOf returns a run of the caller. Returns forbidden for a run of another agent.
func runOf(ctx context.Context, e *op.Engine, p *principal.Principal, id string) (*ent.AgentRun, error) {
	if !input.Storable(id) {
		return nil, errNotYourRun()
	}
	run, err := e.Store.Reader().AgentRun.Query().Where(agentrun.ID(id), agentrun.AgentID(p.ID)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, errNotYourRun()
	}
	return run, worker.Wrap("read the run", err)
}

// notWorked returns conflict for a run that has ended or was not claimed, for a paused agent, and while agents are disabled.
func notWorked(off bool, a *ent.Agent, run *ent.AgentRun) error {
	switch {
	case !slices.Contains(runs.Open, run.Status):
		return apperr.New(apperr.Conflict, "The run has ended: it is %s.", run.Status)
	case off:
		return worker.SwitchedOff()
	case a.Status == agent.StatusPAUSED:
		return apperr.New(apperr.Conflict, "The agent is paused.")
	case run.Status == agentrun.StatusQUEUED:
		return apperr.New(apperr.Conflict, "Claim the run first.")
	}
	return nil
}
