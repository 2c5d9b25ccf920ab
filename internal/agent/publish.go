package agent

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentevaluation"
	"atrium/ent/agentversion"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

var versionSorts = op.Sorts{"createdAt": agentversion.FieldCreatedAt}

// The operations that publish, pause and resume agents.
var (
	Publish = op.OnRow("agent.publish", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Summary: "Publish an agent's draft as its next version, and put it to work",
	}, settings.Load, publish)

	Pause = op.OnRow("agent.pause", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Summary: "Have an agent begin nothing, and do nothing that was approved, until it is resumed",
	}, settings.Load, pause)

	Resume = op.OnRow("agent.resume", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Summary: "Have a paused agent go on",
	}, settings.Load, resume)

	// VersionsOf lists the published versions of several agents, newest first.
	VersionsOf = paging.NewChildren("agent.versions_of", op.Spec{
		Resource: "Agent", Action: op.Read, AdminLayer: true, Sorts: versionSorts, Summary: "List the published versions of several agents",
	}, agentversion.Table, agentversion.FieldAgentID, func(tx *op.Tx) *ent.AgentVersionQuery { return tx.AgentVersion.Query() })
)

// publish returns conflict for a draft that cannot run: a phase agent with the engine history, a model agent without a model, an
// AUTONOMOUS agent without a passed evaluation of this draft.
func publish(ctx context.Context, tx *op.Tx, before *ent.Agent, _ op.ByID) (*ent.Agent, error) {
	s, err := settings.DraftOf(before)
	if err != nil {
		return nil, err
	}
	if err := s.Check(ctx, tx, string(before.Type), string(before.Source)); err != nil {
		return nil, err
	}
	raw, digest, err := s.Digest()
	if err != nil {
		return nil, err
	}
	if before.Type == agent.TypeWORKFLOW_PHASE && before.Source == agent.SourceMANAGED && before.Engine != agent.EngineModel {
		return nil, apperr.New(apperr.Conflict, "The engine history works no phases: a WORKFLOW_PHASE agent thinks with a model, or is CUSTOM.")
	}
	if s.Engine == string(agent.EngineModel) && s.ModelConnectionID == "" && worker.ServerOf(tx).Models.Default.URL == "" {
		return nil, apperr.New(apperr.Conflict, "This server has no model of its own: the agent names a modelConnectionId.")
	}
	if before.Autonomy == agent.AutonomyAUTONOMOUS {
		passed, err := tx.AgentEvaluation.Query().Where(agentevaluation.AgentID(before.ID), agentevaluation.Digest(digest), agentevaluation.StatusEQ(agentevaluation.StatusPASSED)).
			Exist(tx.Unfiltered(ctx, "what lets an agent act alone is there or not"))
		if err != nil {
			return nil, fmt.Errorf("look for an evaluation: %w", err)
		}
		if !passed {
			return nil, apperr.New(apperr.Conflict, "An AUTONOMOUS agent needs an evaluation of this version that passed.")
		}
	}
	after, err := before.Update().SetStatus(agent.StatusACTIVE).AddVersion(1).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("publish the agent: %w", err)
	}
	err = tx.AgentVersion.Create().SetAgentID(after.ID).SetVersion(after.Version).SetSettings(raw).SetPublishedAt(tx.Now(ctx)).
		SetPublishedBy(tx.Principal().ID).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("keep the published version: %w", err)
	}
	tx.AuthorityChanged()
	tx.Changed(before, after)
	if before.Status == agent.StatusPAUSED {
		return after, runs.Resume(ctx, tx, after)
	}
	return after, nil
}

func pause(ctx context.Context, tx *op.Tx, before *ent.Agent, _ op.ByID) (*ent.Agent, error) {
	if before.Status == agent.StatusDRAFT {
		return nil, apperr.New(apperr.Conflict, "The agent was not published.")
	}
	return setStatus(ctx, tx, before, agent.StatusPAUSED)
}

func resume(ctx context.Context, tx *op.Tx, before *ent.Agent, _ op.ByID) (*ent.Agent, error) {
	if before.Status != agent.StatusPAUSED {
		return nil, apperr.New(apperr.Conflict, "The agent is not paused.")
	}
	after, err := setStatus(ctx, tx, before, agent.StatusACTIVE)
	if err != nil {
		return nil, err
	}
	return after, runs.Resume(ctx, tx, after)
}

func setStatus(ctx context.Context, tx *op.Tx, before *ent.Agent, to agent.Status) (*ent.Agent, error) {
	after, err := op.Save(ctx, tx, before, before.Update().SetStatus(to))
	if err != nil {
		return nil, fmt.Errorf("turn the agent %s: %w", to, err)
	}
	tx.AuthorityChanged()
	return after, nil
}
