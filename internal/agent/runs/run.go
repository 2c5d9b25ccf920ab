package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/predicate"
	"atrium/ent/request"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

var runSorts = op.Sorts{"createdAt": agentrun.FieldCreatedAt, "updatedAt": agentrun.FieldUpdatedAt}

// The operations on runs. Callers who may read a request and have requests:read may read its runs.
var (
	List = paging.NewList("agentrun.list", op.Spec{
		Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Sorts: runSorts, Summary: "List runs of agents",
	}, func(_ context.Context, tx *op.Tx, in ListRunsInput) *ent.AgentRunQuery {
		return tx.AgentRun.Query().Where(in.where(tx)...)
	})

	Get = op.Get("agentrun.read", op.Spec{
		Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Summary: "Get a run of an agent",
	}, func(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, error) {
		run, err := tx.AgentRun.Query().Where(append(Shown(tx), agentrun.ID(id))...).Only(ctx)
		if e := worker.ServerOf(tx).Engine; err == nil && SelfID(tx) != "" && e != nil { // a sign of its agent, as any call of the run
			return run, RenewLease(ctx, e, run)
		}
		return run, err
	})

	// LookUp reads the runs with the given ids that match a filter and that the caller may see.
	LookUp = op.New("agentrun.lookup", op.Spec{
		Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Summary: "Look runs of agents up by their ids",
	}, func(ctx context.Context, tx *op.Tx, in LookUpRunsInput) (map[string]*ent.AgentRun, error) {
		return paging.LookUp(ctx, tx.AgentRun.Query().Where(in.where(tx)...), paging.ByIDs{IDs: in.IDs})
	})

	// LookUpEdges reads the runs that other rows refer to in GraphQL, many at once, with the same rights as a read of one.
	LookUpEdges = paging.NewLookUp("agentrun.edges", op.Spec{
		Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Summary: "Look up the runs that other rows are about",
	}, func(tx *op.Tx) *ent.AgentRunQuery { return tx.AgentRun.Query().Where(Shown(tx)...) })

	// RunsOf lists the runs of several requests.
	RunsOf = paging.NewChildren("agentrun.of_requests", op.Spec{
		Resource: "AgentRun", Action: op.Read, Scope: "requests:read", Sorts: runSorts, Summary: "List the runs of agents on several requests",
	}, agentrun.Table, agentrun.FieldRequestID, func(tx *op.Tx) *ent.AgentRunQuery { return tx.AgentRun.Query() }, Shown)

	Stop = op.OnRow("agentrun.stop", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", Past: map[string]string{"agentrun.stop": "agentrun.stopped"},
		Summary: "Stop a run: nothing of it is done any more once this has answered",
	}, loadRun, stopRun)

	Rerun = op.New("agentrun.rerun", op.Spec{
		Resource: "AgentRun", Action: op.Update, Scope: "requests:write", Past: map[string]string{"agentrun.rerun": "agentrun.rerun"},
		Summary: "Have an agent look at a request again",
	}, rerun).Prepared(prepareRerun)

	StopAll = op.New("agent.stop_all", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Past: map[string]string{"agent.stop_all": "agent.all_stopped"},
		Summary: "Stop all runs and pause all agents",
	}, stopAll)
)

// RunFilter filters runs. Each field takes several values, of which any may match.
type RunFilter struct {
	Status    []string `json:"-" query:"status" enum:"QUEUED,RUNNING,WAITING,COMPLETED,PROPOSED,HANDED_OVER,FAILED,STOPPED"`
	AgentID   []string `json:"-" query:"agentId" maxLength:"64"`
	RequestID []string `json:"-" query:"requestId" maxLength:"64"`
}

// ListRunsInput filters the runs and selects a page.
type ListRunsInput struct {
	paging.Page
	RunFilter
}

// LookUpRunsInput holds the ids of runs, and filters them as the list does.
type LookUpRunsInput struct {
	ListRunsInput
	IDs []string `json:"-"`
}

func (f RunFilter) where(tx *op.Tx) []predicate.AgentRun {
	where := Shown(tx)
	where = paging.In(where, f.Status, agentrun.StatusIn)
	where = paging.In(where, f.AgentID, agentrun.AgentIDIn)
	return paging.In(where, f.RequestID, agentrun.RequestIDIn)
}

// seesShadows reports whether the caller may see shadow runs and their actions.
func seesShadows(tx *op.Tx) bool {
	return slices.Contains([]principal.Role{principal.Admin, principal.Owner, principal.OperatorRole}, tx.Principal().Role)
}

// Shown restricts runs to those that the caller may see.
func Shown(tx *op.Tx) []predicate.AgentRun {
	if self := SelfID(tx); self != "" { // an agent sees its own runs, including shadow runs
		return []predicate.AgentRun{agentrun.AgentID(self)}
	}
	if seesShadows(tx) {
		return nil
	}
	return []predicate.AgentRun{agentrun.ShadowEQ(false)}
}

// StepsOf returns the steps of a run in order.
func StepsOf(r *ent.AgentRun) ([]*Step, error) {
	return strictjson.List[Step](r.Steps, "steps", r.ID)
}

func loadRun(ctx context.Context, tx *op.Tx, id string) (*ent.AgentRun, error) {
	return op.Lock(tx, tx.AgentRun.Query().Where(append(Shown(tx), agentrun.ID(id))...)).Only(ctx)
}

// stopRun returns conflict if the run has ended.
func stopRun(ctx context.Context, tx *op.Tx, before *ent.AgentRun, _ op.ByID) (*ent.AgentRun, error) {
	if !slices.Contains(Open, before.Status) {
		return nil, apperr.New(apperr.Conflict, "The run has ended already.")
	}
	if err := End(ctx, tx, before, agentrun.StatusSTOPPED, "Stopped by a person."); err != nil {
		return nil, err
	}
	return Reload(ctx, tx, before)
}

// Reload returns a run as a change has left it, and records the change for the audit entry.
func Reload(ctx context.Context, tx *op.Tx, before *ent.AgentRun) (*ent.AgentRun, error) {
	after, err := tx.AgentRun.Get(tx.Unfiltered(ctx, "the row that was just changed"), before.ID)
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	tx.Changed(before, after)
	return after, nil
}

// RerunInput names a request.
type RerunInput struct {
	RequestID string `json:"requestId" minLength:"1" maxLength:"64" doc:"A PENDING request."`
}

// prepareRerun finds the agent for the request.
func prepareRerun(ctx context.Context, tx *op.Tx, in RerunInput) (any, error) {
	all := principal.With(ctx, principal.Worker(tx.Principal().CompanyID, worker.Name))
	r, err := tx.Request.Query().Where(request.ID(in.RequestID)).Only(all)
	if ent.IsNotFound(err) {
		return (*settings.Selected)(nil), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return choose(all, tx.Client, r)
}

// rerun returns validation_error for a request that the caller may not see, and conflict if no agent takes it or if a run of it is open.
func rerun(ctx context.Context, tx *op.Tx, in RerunInput) (*ent.AgentRun, error) {
	r, err := op.Lock(tx, tx.Request.Query().Where(request.ID(in.RequestID))).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, ErrUnread
	}
	if err != nil {
		return nil, err
	}
	open, err := tx.AgentRun.Query().Where(agentrun.RequestID(r.ID), agentrun.TaskIDIsNil(), agentrun.StatusIn(Open...)).
		Exist(tx.Unfiltered(ctx, "one run of a request at a time"))
	if err != nil {
		return nil, fmt.Errorf("look for the request's runs: %w", err)
	}
	if open {
		return nil, apperr.New(apperr.Conflict, "An agent is working the request.")
	}
	c, _ := op.Preparation[*settings.Selected](tx)
	if c == nil || r.Status != request.StatusPENDING {
		return nil, apperr.New(apperr.Conflict, "No agent takes the request.")
	}
	run, err := begin(ctx, tx, c, r, agentrun.TriggerRerun)
	if errors.Is(err, errMoved) {
		return nil, op.ErrOutdated
	}
	if err != nil {
		return nil, err
	}
	// Earlier proposals no longer reflect what the agent decides.
	err = tx.AgentAction.Update().Where(agentaction.RequestID(r.ID), agentaction.OperationNEQ(tools.Task), agentaction.StatusEQ(agentaction.StatusPENDING),
		agentaction.HasRunWith(agentrun.TriggerNEQ(agentrun.TriggerConsulted))).
		SetStatus(agentaction.StatusSTALE).Exec(tx.Unfiltered(ctx, "earlier proposals go stale whoever sees them"))
	if err != nil {
		return nil, fmt.Errorf("make earlier proposals stale: %w", err)
	}
	tx.Changed(nil, run)
	return run, nil
}

// StopAllInput says why everything is stopped.
type StopAllInput struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" pattern:"\\S" patternDescription:"more than blanks" doc:"Kept with each run."`
}

// Stopped holds the numbers of stopped runs and paused agents.
type Stopped struct{ Runs, Agents int }

func stopAll(ctx context.Context, tx *op.Tx, in StopAllInput) (*Stopped, error) {
	all := tx.Unfiltered(ctx, "everything is stopped, seen or not")
	now := tx.Now(ctx)
	out := &Stopped{}
	var err error
	if out.Agents, err = tx.Agent.Update().Where(agent.StatusEQ(agent.StatusACTIVE)).SetStatus(agent.StatusPAUSED).Save(all); err != nil {
		return nil, fmt.Errorf("pause the agents: %w", err)
	}
	tasks, err := tx.AgentRun.Query().Where(agentrun.TaskIDNotNil(), agentrun.StatusIn(Open...)).All(all)
	if err != nil {
		return nil, fmt.Errorf("look for runs about tasks: %w", err)
	}
	for _, run := range tasks {
		if err := tx.Insert(ctx, ReleaseArgs{Company: run.CompanyID, Run: run.ID}, time.Time{}); err != nil {
			return nil, err
		}
	}
	out.Runs, err = tx.AgentRun.Update().Where(agentrun.StatusIn(Open...)).SetStatus(agentrun.StatusSTOPPED).
		SetReason("All agents were stopped: " + in.Reason).SetEndedAt(now.Truncate(time.Millisecond)).Save(all)
	if err != nil {
		return nil, fmt.Errorf("stop the runs: %w", err)
	}
	err = tx.AgentAction.Update().Where(agentaction.KindEQ(agentaction.KindACTION), agentaction.StatusEQ(agentaction.StatusPENDING)).
		SetStatus(agentaction.StatusSTALE).Exec(all)
	if err != nil {
		return nil, fmt.Errorf("make the runs' plans stale: %w", err)
	}
	tx.AuthorityChanged()
	tx.ChangedField("reason", nil, in.Reason)
	tx.ChangedField("agents", 0, out.Agents)
	tx.ChangedField("runs", 0, out.Runs)
	return out, nil
}

// Step is one step of a run.
type Step struct {
	N         int             `json:"n"`
	Kind      string          `json:"kind"`      // read, decide or act
	Operation string          `json:"operation"` // the operation's GraphQL name
	Rows      []string        `json:"rows"`      // ids of the rows that it looked at, at most 50
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result"` // plain text for people
	At        time.Time       `json:"at"`
}

// ErrUnread is the error for a request that the caller may not read.
var ErrUnread = apperr.InvalidField("requestId", "must be a request that you may read")

// SelfID returns the id of the agent that calls with its key; empty for all other callers.
func SelfID(tx *op.Tx) string {
	if p := tx.Principal(); p.Type == principal.TypeAgent {
		return p.ID
	}
	return ""
}
