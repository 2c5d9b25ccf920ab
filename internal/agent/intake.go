package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/agentversion"
	"atrium/ent/request"
	domain "atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
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
	return func(ctx context.Context, tx *store.Tx, e *ent.Event) error {
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

// selectedAgent is the agent for a request, with the settings of its version.
type selectedAgent struct {
	agent    *ent.Agent
	settings settings
}

// choose returns the oldest active agent whose filter matches the request, and nil for none. A filter with an error does not
// match. It evaluates customers' CEL, so call it outside of transactions.
func choose(ctx context.Context, db *ent.Client, r *ent.Request) (*selectedAgent, error) {
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
		s, err := published(ctx, db, a.ID, a.Version)
		if err != nil {
			return nil, err
		}
		if filterHolds(ctx, s.Filter, bound) {
			return &selectedAgent{a, s}, nil
		}
	}
	return nil, nil
}

// published returns the settings of a version.
func published(ctx context.Context, db *ent.Client, agentID string, version int) (s settings, err error) {
	v, err := db.AgentVersion.Query().Where(agentversion.AgentID(agentID), agentversion.Version(version)).Only(ctx)
	if err != nil {
		return s, fmt.Errorf("read the agent's version: %w", err)
	}
	if err := json.Unmarshal(v.Settings, &s); err != nil {
		return s, fmt.Errorf("read the settings of %s: %w", v.ID, err)
	}
	s.Limits = s.Limits.orDefault() // versions older than the limits have none
	return s, nil
}

const filterTimeout = time.Second

// filters caches compiled filters by the hash of their text.
var filters, _ = lru.New[[sha256.Size]byte, *definition.Condition](512)

// filterHolds reports whether a filter matches; an empty one always does.
func filterHolds(ctx context.Context, source string, b definition.Bound) bool {
	if source == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, filterTimeout)
	defer cancel()
	key := sha256.Sum256([]byte(source))
	e, ok := filters.Get(key)
	if !ok {
		var faults []apperr.Detail
		if e, faults = definition.ParseCondition(ctx, filterField, source); len(faults) > 0 {
			return false // filters are checked when they are saved
		}
		filters.Add(key, e)
	}
	return e.Holds(ctx, b)
}

// errMoved says that an agent or a request has changed since it was read.
var errMoved = errors.New("the agent or the request has changed meanwhile")

// begin creates the run of an agent on a request, with its job. Returns errMoved if the agent is not active or has a new version.
func begin(ctx context.Context, tx *op.Tx, c *selectedAgent, r *ent.Request, trigger agentrun.Trigger) (*ent.AgentRun, error) {
	all := tx.Unfiltered(ctx, "runs are numbered whatever the caller sees")
	same, err := tx.Agent.Query().Where(atWork, agent.ID(c.agent.ID), agent.Version(c.agent.Version)).Exist(all)
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
	run, err := tx.AgentRun.Create().SetAgentID(c.agent.ID).SetAgentVersion(c.agent.Version).SetRequestID(r.ID).SetNumber(n + 1).
		SetTrigger(trigger).SetShadow(c.settings.Shadow).Save(all)
	if err != nil {
		return nil, fmt.Errorf("begin a run: %w", err)
	}
	job, err := runJob(ctx, tx, run)
	if err != nil {
		return nil, err
	}
	return run, tx.Insert(ctx, job, time.Time{})
}
