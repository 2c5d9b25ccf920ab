package interrupt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// QueueName is the queue of the agents' jobs that plan, and DeadlineQueue that of the jobs that end waiting. They are separate, so
// that computations delay no other jobs, and runs no deadlines.
const (
	QueueName     = "agents"
	DeadlineQueue = "agent_deadlines"
)

// NotWaiting is the reason of a run whose request is past what agents do about it.
const NotWaiting = "The request does not wait any more."

// NobodyAnswers is the reason of a run whose agent's owner has left.
const NobodyAnswers = "Nobody answers for the agent: its owner was deactivated."

// Open lists the statuses of runs that have not ended.
var Open = []agentrun.Status{agentrun.StatusQUEUED, agentrun.StatusRUNNING, agentrun.StatusWAITING}

// RunArgs is the job that takes a run to its end, or to the point where it waits for a person.
type RunArgs struct {
	Company  string `json:"company"`
	Run      string `json:"run"`
	Priority int    `json:"priority,omitempty"` // 1 (or 0) to 4: jobs with a lower one go first
}

// Kind names the job.
func (RunArgs) Kind() string { return "agent_run" }

// InsertOpts puts the job into the agents' queue.
func (a RunArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: QueueName, Priority: a.Priority}
}

// TaskArgs is the job about a task that was assigned or has ended.
type TaskArgs struct {
	Company string `json:"company"`
	Task    string `json:"task"`
}

// Kind names the job.
func (TaskArgs) Kind() string { return "agent_task" }

// InsertOpts puts the job into the agents' queue.
func (TaskArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: QueueName} }

// ReleaseArgs is the job that gives a task to people: the task of a run that did not complete it, or one that its agent cannot
// work on.
type ReleaseArgs struct {
	Company string `json:"company"`
	Run     string `json:"run,omitempty"`
	Task    string `json:"task,omitempty"` // for a task without a run
}

// Kind names the job.
func (ReleaseArgs) Kind() string { return "agent_release" }

// InsertOpts puts the job into the queue of the deadlines, because somebody waits for the task.
func (ReleaseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: DeadlineQueue}
}

// Release gives the task of a run to people, unless the run was only asked for an opinion.
func Release(ctx context.Context, tx *op.Tx, run *ent.AgentRun) error {
	if run.TaskID == nil || run.Trigger == agentrun.TriggerConsulted {
		return nil
	}
	return tx.Insert(ctx, ReleaseArgs{Company: run.CompanyID, Run: run.ID}, time.Time{})
}

// PhaseArgs is the job that consults an agent about the task of a phase, or informs it that the phase was left.
type PhaseArgs struct {
	Company   string `json:"company"`
	Execution string `json:"execution"`
	Phase     string `json:"phase"`
	Visit     int    `json:"visit"`
	Role      string `json:"role"` // consulted or informed
	Agent     string `json:"agent"`
}

// Kind names the job.
func (PhaseArgs) Kind() string { return "agent_phase" }

// InsertOpts puts the job into the agents' queue.
func (PhaseArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: QueueName} }

// Version returns a digest of the parts of a request that a plan depends on, so that a plan can be compared with the request
// later. The clocks of service levels are not part of it.
func Version(r *ent.Request) (string, error) {
	tags := r.Tags
	if len(tags) == 0 {
		tags = nil // nil and empty tags are equal
	}
	raw, err := json.Marshal([]any{r.Title, r.Description, r.Status, r.Priority, tags, r.TeamID, r.AssigneeID, r.Fields, r.Waiting, r.SnoozedUntil, r.OfferingID})
	if err != nil {
		return "", fmt.Errorf("digest the request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Changed makes the pending actions for a request STALE after a change of its version. A change by a person stops the request's
// runs; after any other change they plan again. The run that caused the change goes on: package agent has its other actions depend
// on the request as it is now. The caller holds the lock of the request. A request without runs costs one statement.
func Changed(ctx context.Context, tx *op.Tx, before, after *ent.Request) error {
	was, err := Version(before)
	if err != nil {
		return err
	}
	is, err := Version(after)
	if err != nil || was == is {
		return err
	}
	ctx = tx.Unfiltered(ctx, "plans go stale whether or not the caller sees them")
	some, err := tx.AgentRun.Query().Where(agentrun.RequestID(after.ID)).Exist(ctx)
	if err != nil || !some {
		return wrap("look for runs of agents", err)
	}
	own := ""
	if c := tx.Principal().Cause; c != nil {
		own = c.RunID
	}
	waiting, err := op.Lock(tx, tx.AgentRun.Query().Where(agentrun.RequestID(after.ID), agentrun.IDNEQ(own), agentrun.TaskIDIsNil(), agentrun.StatusIn(Open...))).All(ctx)
	if err != nil {
		return fmt.Errorf("look for open runs of agents: %w", err)
	}
	for _, r := range waiting {
		if err := moveOn(ctx, tx, r, after); err != nil {
			return err
		}
	}
	err = tx.AgentAction.Update().Where(agentaction.RequestID(after.ID), agentaction.RunIDNEQ(own), agentaction.StatusEQ(agentaction.StatusPENDING), agentaction.OperationNEQ("completeTask"),
		agentaction.HasRunWith(agentrun.TriggerNEQ(agentrun.TriggerConsulted))). // an opinion is about the task
		SetStatus(agentaction.StatusSTALE).Exec(ctx)
	return wrap("make plans stale", err)
}

// moveOn stops a run whose request a person has changed, and hands over one whose request has ended. After any other change a run
// plans again if it waits, or if its agent works on it and has asked for a write already; an engine compares the versions before it
// ends.
func moveOn(ctx context.Context, tx *op.Tx, r *ent.AgentRun, on *ent.Request) error {
	if p := tx.Principal(); p.Type == principal.TypeUser && p.Method != principal.MethodAPIKey {
		err := r.Update().SetStatus(agentrun.StatusSTOPPED).SetReason("Somebody changed the request.").SetEndedAt(tx.Now(ctx)).Exec(ctx)
		return wrap("stop a run", err)
	}
	if !lifecycle.RequestOpen(on.Status) {
		err := r.Update().SetStatus(agentrun.StatusHANDED_OVER).SetReason(NotWaiting).SetEndedAt(tx.Now(ctx)).Exec(ctx)
		return wrap("hand a run over", err)
	}
	if r.Status == agentrun.StatusQUEUED {
		return nil
	}
	if r.Status == agentrun.StatusRUNNING {
		asked, err := tx.AgentAction.Query().Where(agentaction.RunID(r.ID), agentaction.StatusEQ(agentaction.StatusPENDING)).
			Exist(tx.Unfiltered(ctx, "what a run has asked for, whoever sees it"))
		if err != nil || !asked {
			return wrap("look for what a run has asked for", err)
		}
	}
	if err := r.Update().SetStatus(agentrun.StatusQUEUED).ClearLeaseUntil().Exec(ctx); err != nil {
		return fmt.Errorf("have a run plan anew: %w", err)
	}
	return tx.Insert(ctx, RunArgs{Company: r.CompanyID, Run: r.ID}, time.Time{})
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
