package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/jobs"
	"atrium/internal/platform/store"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/execution"
)

// IntakeArgs is the job that finds the agent for a new request.
type IntakeArgs struct {
	Company string `json:"company"`
	Request string `json:"request"`
}

// Kind names the job.
func (IntakeArgs) Kind() string { return "agent_intake" }

// InsertOpts puts the job into the agents' queue.
func (IntakeArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: execution.AgentQueue} }

// Follow returns the event subscriber that queues agents' jobs for new requests and tasks. In a company without agents an event
// costs only a lookup in memory.
func Follow(s *store.Store, queue *jobs.Queue) events.Subscriber {
	var companies store.AuthorityCache[bool] // which companies have active agents for requests
	var phases store.AuthorityCache[bool]    // which companies have agents for tasks
	return func(ctx context.Context, tx *store.Tx, e events.Emitted) error {
		switch e.Type {
		case events.TaskAssigned, events.TaskCompleted:
			works, err := phases.Get(s, e.CompanyID, func() (bool, error) { return tx.Agent.Query().Where(agent.TypeEQ(agent.TypeWORKFLOW_PHASE)).Exist(ctx) })
			if err != nil {
				return fmt.Errorf("look for agents: %w", err)
			}
			if !works {
				return nil
			}
			return queue.InsertManyTx(ctx, tx, jobs.Job{Args: execution.AgentTaskArgs{Company: e.CompanyID, Task: e.SubjectID}})
		case events.RequestCreated:
		default:
			return nil
		}
		works, err := companies.Get(s, e.CompanyID, func() (bool, error) { return tx.Agent.Query().Where(atWork).Exist(ctx) })
		if err != nil {
			return fmt.Errorf("look for agents: %w", err)
		}
		if !works {
			return nil
		}
		return queue.InsertManyTx(ctx, tx, jobs.Job{Args: IntakeArgs{Company: e.CompanyID, Request: e.SubjectID}})
	}
}

// atWork matches the agents that take new requests.
var atWork = agent.And(agent.StatusEQ(agent.StatusACTIVE), agent.TypeEQ(agent.TypeQUEUE_INTAKE))

// choose returns the oldest active agent whose filter matches the request, and nil for none. A filter with an error does not
// match. It evaluates customers' CEL, so call it outside of transactions.
func choose(ctx context.Context, db *ent.Client, r *ent.Request) (*settings.Selected, error) {
	if r.Status != request.StatusPENDING {
		return nil, nil // people are working on it
	}
	list, err := db.Agent.Query().Where(atWork).Order(agent.ByCreatedAt(), agent.ByID()).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the agents: %w", err)
	}
	values, err := domain.Variables(r)
	if err != nil {
		return nil, err
	}
	bound := definition.Vars{Request: values}.Bind()
	for _, a := range list {
		s, err := settings.Published(ctx, db, a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if settings.FilterHolds(ctx, s.Filter, bound) {
			return &settings.Selected{Agent: a, Settings: s}, nil
		}
	}
	return nil, nil
}

// errMoved says that an agent or a request has changed since it was read.
var errMoved = errors.New("the agent or the request has changed meanwhile")

// begin creates the run of an agent on a request, with its job. Returns errMoved if the agent is not active or has a new version.
func begin(ctx context.Context, tx *op.Tx, c *settings.Selected, r *ent.Request, trigger agentrun.Trigger) (*ent.AgentRun, error) {
	all := tx.Unfiltered(ctx, "runs are numbered whatever the caller sees")
	same, err := tx.Agent.Query().Where(atWork, agent.ID(c.Agent.ID), agent.Version(c.Agent.Version)).Exist(all)
	if err != nil {
		return nil, fmt.Errorf("read the agent: %w", err)
	}
	if !same {
		return nil, errMoved
	}
	n, err := tx.AgentRun.Query().Where(agentrun.RequestID(r.ID)).Count(all)
	if err != nil {
		return nil, fmt.Errorf("count the request's runs: %w", err)
	}
	run, err := tx.AgentRun.Create().SetAgentID(c.Agent.ID).SetAgentVersion(c.Agent.Version).SetRequestID(r.ID).SetNumber(n + 1).
		SetTrigger(trigger).SetShadow(c.Settings.Shadow).Save(all)
	if err != nil {
		return nil, fmt.Errorf("begin a run: %w", err)
	}
	job, err := JobOf(ctx, tx, run)
	if err != nil {
		return nil, err
	}
	return run, tx.Insert(ctx, job, time.Time{})
}

// intake works the jobs that find the agent for a new request.
type intake struct {
	river.WorkerDefaults[IntakeArgs]
	engine *op.Engine
}

// NextRetry is soon, because somebody waits for the request.
func (*intake) NextRetry(*river.Job[IntakeArgs]) time.Time { return time.Now().Add(worker.RetryAfter) }

// Work begins the run and completes the job in one transaction.
func (w *intake) Work(ctx context.Context, job *river.Job[IntakeArgs]) error {
	a := job.Args
	read := worker.Outside(ctx, w.engine, a.Company)
	r, err := w.engine.Store.Reader().Request.Get(read, a.Request)
	if err != nil {
		return worker.Wrap("read the request", ent.MaskNotFound(err))
	}
	c, err := choose(read, w.engine.Store.Reader(), r)
	if err != nil || c == nil {
		return err
	}
	return w.engine.Work(ctx, a.Company, worker.Name, func(ctx context.Context, tx *op.Tx) error {
		if _, err := op.Lock(tx, tx.Request.Query().Where(request.ID(r.ID))).OnlyID(ctx); err != nil {
			return fmt.Errorf("lock the request: %w", err)
		}
		begun, err := tx.AgentRun.Query().Where(agentrun.RequestID(r.ID)).Exist(ctx)
		if err != nil {
			return fmt.Errorf("look for the request's runs: %w", err)
		}
		if !begun {
			if _, err := begin(ctx, tx, c, r, agentrun.TriggerCreated); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job.JobRow)
	})
}
