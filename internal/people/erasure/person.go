package erasure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/accessdecision"
	"atrium/ent/accesspolicyversion"
	"atrium/ent/agentaction"
	"atrium/ent/agentrun"
	"atrium/ent/apikey"
	"atrium/ent/approval"
	"atrium/ent/comment"
	entexecution "atrium/ent/execution"
	"atrium/ent/idempotencykey"
	"atrium/ent/incident"
	"atrium/ent/notification"
	"atrium/ent/phasevisit"
	"atrium/ent/task"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/store"
	"atrium/internal/webhook"
	"atrium/internal/workflow/execution"
)

// Erased is the action of the audit entry that says who erased whom, and why.
const Erased = "user.erased"

// Mark replaces erased text in columns that may not be empty.
const Mark = "[erased]"

const (
	worker  = "erasure" // the actor of audit entries
	batch   = 100       // requests or comments per transaction
	timeout = time.Hour
	again   = 24 * time.Hour // when executions that run are looked at once more

	// Settles is the delay between the end of the person's access and the job. It is long enough for their last calls to end.
	Settles = store.Propagation + 4*time.Second
)

// Args is the job that erases what a person wrote in one company.
type Args struct {
	Company string `json:"company"`
	User    string `json:"user"`
	Rest    bool   `json:"rest,omitempty"` // only what running executions needed before
}

// Kind names the job.
func (Args) Kind() string { return "erase_person" }

type eraser struct {
	river.WorkerDefaults[Args]
	engine *op.Engine
}

// Timeout is longer than River's default: a person may have written for years.
func (*eraser) Timeout(*river.Job[Args]) time.Duration { return timeout }

// Work erases the person.
func (w *eraser) Work(ctx context.Context, job *river.Job[Args]) error {
	p := &person{engine: w.engine, Args: job.Args}
	steps := []func(context.Context) error{p.findKeys, p.requests, p.comments, p.filesOf, p.reasons, p.answers, p.traces, p.agents, p.audit}
	if p.Rest {
		steps = []func(context.Context) error{p.answers}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return fmt.Errorf("erase %s: %w", p.User, err)
		}
	}
	return w.engine.Store.Scrub(ctx)
}

// person is one erasure in progress.
type person struct {
	Args
	engine *op.Engine
	keys   []string // ids of the person's API keys
	about  []string // ids of the rows whose audit entries may hold what the person wrote
}

func (p *person) do(ctx context.Context, fn func(context.Context, *op.Tx) error) error {
	return p.engine.Work(ctx, p.Company, worker, fn)
}

func (p *person) findKeys(ctx context.Context) error {
	return p.do(ctx, func(ctx context.Context, tx *op.Tx) (err error) {
		p.keys, err = tx.APIKey.Query().Where(apikey.UserID(p.User)).IDs(ctx)
		p.about = append([]string{p.User}, p.keys...)
		return err
	})
}

// around erases what belongs to the requests: executions, tasks, approvals, agents' runs and actions, notifications and events.
func (p *person) around(ctx context.Context, tx *op.Tx, requests []string) error {
	ids := slices.Clone(requests)
	executions, err := tx.Execution.Query().Where(entexecution.RequestIDIn(ids...)).Order(entexecution.ByDepth(), entexecution.ByID()).All(ctx)
	if err != nil {
		return fmt.Errorf("look for executions: %w", err)
	}
	for _, e := range executions {
		if err := eraseExecution(ctx, tx, e); err != nil {
			return err
		}
		ids = append(ids, e.ID)
	}
	tasks, err := tx.Task.Query().Where(task.RequestIDIn(ids...)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for tasks: %w", err)
	}
	approvals, err := tx.Approval.Query().Where(approval.RequestIDIn(ids...)).IDs(ctx)
	if err != nil {
		return fmt.Errorf("look for approvals: %w", err)
	}
	ids = append(append(ids, tasks...), approvals...)
	p.about = append(p.about, ids...)
	return errors.Join(
		tx.Task.Update().Where(task.RequestIDIn(ids...)).SetTitle(Mark).SetInstructions("").ClearForm().ClearCorrections().ClearVariables().Exec(ctx),
		tx.Approval.Update().Where(approval.RequestIDIn(ids...)).SetTitle(Mark).Exec(ctx),
		agentsWork(ctx, tx, ids...),
		deleted(tx.Notification.Delete().Where(notification.RequestIDIn(ids...)).Exec(ctx)),
		recordsAbout(ctx, tx, ids...),
		webhook.EraseEvents(ctx, tx.Client, Mark, ids...),
	)
}

// eraseExecution cancels an execution that still runs, because its request ended before it, and erases its values.
func eraseExecution(ctx context.Context, tx *op.Tx, e *ent.Execution) (err error) {
	if e.ParentID != nil { // it may have ended with the one that has called it
		if e, err = tx.Execution.Get(ctx, e.ID); err != nil {
			return fmt.Errorf("read a called execution: %w", err)
		}
	}
	if lifecycle.ExecutionOpen(e.Status) {
		if _, err := op.RunIn(ctx, tx, execution.Cancel, op.ByID{ID: e.ID}); err != nil {
			return err
		}
	}
	return errors.Join(
		execution.EraseVariables(ctx, tx.Client, e.ID),
		tx.PhaseVisit.Update().Where(phasevisit.ExecutionID(e.ID)).ClearInput().ClearOutput().ClearError().Exec(ctx),
		tx.Incident.Update().Where(incident.ExecutionID(e.ID)).SetMessage(Mark).ClearVariables().Exec(ctx),
	)
}

// comments erases the person's comments on any request.
func (p *person) comments(ctx context.Context) error {
	for after := ""; ; {
		var ids []string
		err := p.do(ctx, func(ctx context.Context, tx *op.Tx) (err error) {
			rows, err := tx.Comment.Query().Where(comment.AuthorID(p.User), comment.IDGT(after)).Order(comment.ByID()).Limit(batch).All(ctx)
			if err != nil || len(rows) == 0 {
				return err
			}
			ids = nil
			for _, c := range rows {
				ids = append(ids, c.ID)
				told := notification.UserIDIn(c.Mentioned...) // the notice begins with the author's name
				if err := deleted(tx.Notification.Delete().Where(notification.KindEQ(notification.KindMention), notification.RequestID(c.RequestID), told).Exec(ctx)); err != nil {
					return err
				}
			}
			p.about = append(p.about, ids...)
			return errors.Join(
				request.EraseComments(ctx, tx, Mark, ids...),
				recordsAbout(ctx, tx, ids...),
			)
		})
		if err != nil || len(ids) < batch {
			return err
		}
		after = ids[len(ids)-1]
	}
}

// traces erases the records of the person's calls, and the comments on their decisions.
func (p *person) traces(ctx context.Context) error {
	return p.do(ctx, func(ctx context.Context, tx *op.Tx) error {
		by := idempotencykey.Or(idempotencykey.CallerIDIn(p.keys...), idempotencykey.CallerIDHasPrefix(p.User+"/"), idempotencykey.RowID(p.User))
		return errors.Join(
			deleted(tx.Notification.Delete().Where(notification.UserID(p.User)).Exec(ctx)),
			deleted(tx.IdempotencyKey.Delete().Where(by).Exec(ctx)),
			deleted(tx.AccessDecision.Delete().Where(accessdecision.Or(accessdecision.PrincipalID(p.User), accessdecision.ResourceID(p.User))).Exec(ctx)),
			p.views(ctx, tx),
			tx.AccessPolicyVersion.Update().Where(accesspolicyversion.ActorID(p.User)).SetActorName(Mark).Exec(ctx),
			tx.AgentAction.Update().Where(agentaction.DecidedBy(p.User)).SetComment("").Exec(ctx),
			execution.EraseComments(ctx, tx.Client, p.User),
		)
	})
}

// agents erases what agents have read of the person. It is the last of what they read that is erased, so those that are at work then have
// read too much: they plan anew. What they had stored until then about the person's requests is erased once more.
func (p *person) agents(ctx context.Context) error {
	err := p.do(ctx, func(ctx context.Context, tx *op.Tx) error {
		if err := tx.Agents().PersonErased(ctx, tx); err != nil {
			return fmt.Errorf("have the agents plan anew: %w", err)
		}
		return errors.Join(
			deleted(tx.AgentTurn.Delete().Exec(ctx)), // any turn may describe the staff or quote similar requests
			tx.AgentEvaluation.Update().ClearCases().ClearResults().Exec(ctx),
		)
	})
	if err != nil {
		return err
	}
	for ids := range slices.Chunk(p.about, aboutAtOnce) {
		if err := p.do(ctx, func(ctx context.Context, tx *op.Tx) error { return agentsWork(ctx, tx, ids...) }); err != nil {
			return err
		}
	}
	return nil
}

// agentsWork erases what agents did about requests.
func agentsWork(ctx context.Context, tx *op.Tx, requests ...string) error {
	return errors.Join(
		tx.AgentRun.Update().Where(agentrun.RequestIDIn(requests...)).ClearSteps().SetReason("").SetOutcome("").Exec(ctx),
		tx.AgentAction.Update().Where(agentaction.RequestIDIn(requests...)).ClearArguments().ClearChanges().SetRationale(Mark).SetComment("").Exec(ctx),
	)
}

// deleted returns only the error of a deletion, not the number of rows.
func deleted(_ int, err error) error { return err }

// recordsAbout deletes the stored answers to calls about rows, and the decisions about them.
func recordsAbout(ctx context.Context, tx *op.Tx, ids ...string) error {
	return errors.Join(
		deleted(tx.IdempotencyKey.Delete().Where(idempotencykey.RowIDIn(ids...)).Exec(ctx)),
		deleted(tx.AccessDecision.Delete().Where(accessdecision.ResourceIDIn(ids...)).Exec(ctx)),
	)
}
