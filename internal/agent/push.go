package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/egress"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

const (
	pushQueue = "agent_pushes"
	pushers   = 16 // workers of that queue on each node
	pushes    = 3  // attempts to deliver one push
	pushAfter = 2 * time.Second
	pushTime  = 2 * time.Second // timeout of one call
)

// Caller makes outgoing calls through the egress guard.
type Caller interface {
	Do(ctx context.Context, r *http.Request, l egress.Limits) (egress.Answer, error)
}

// pushed is the body of a push. The agent reads the rest with its key.
type pushed struct {
	Event     string     `json:"event"` // agent.run
	Timestamp string     `json:"timestamp"`
	Data      pushedData `json:"data"`
}

type pushedData struct {
	ID        string  `json:"id"`
	RequestID string  `json:"requestId"`
	TaskID    *string `json:"taskId"`
}

// PushArgs is the job that sends a message to an agent's endpoint.
type PushArgs struct {
	Company string          `json:"company"`
	Agent   string          `json:"agent"`
	ID      string          `json:"id"` // of the message: a receiver ignores repetitions
	Body    json.RawMessage `json:"body"`
}

// Kind names the job.
func (PushArgs) Kind() string { return "agent_push" }

// InsertOpts puts the job into a queue of its own, so that endpoints that hang delay no planning.
func (PushArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: pushQueue, MaxAttempts: pushes}
}

// pushRun sends a run to the endpoint of a CUSTOM agent. If the agent makes no call, the end of the run's lease shows it.
func (w *runner) pushRun(ctx context.Context, job *rivertype.JobRow, run *ent.AgentRun) error {
	body, err := json.Marshal(pushed{
		Event: "agent.run", Timestamp: run.CreatedAt.UTC().Format(clock.Format),
		Data: pushedData{ID: run.ID, RequestID: run.RequestID, TaskID: run.TaskID},
	})
	if err != nil {
		return fmt.Errorf("write the push: %w", err)
	}
	return w.queuePush(ctx, job, run.Edges.Agent, fmt.Sprintf("%s-%d", run.ID, run.Plans), body)
}

// queuePush queues a message to an agent's endpoint and completes the job. An agent without an endpoint polls for its runs.
func (w *runner) queuePush(ctx context.Context, job *rivertype.JobRow, a *ent.Agent, id string, body []byte) error {
	return w.engine.Work(ctx, a.CompanyID, workerName, func(ctx context.Context, tx *op.Tx) error {
		if a.EndpointURL != "" {
			if err := tx.Insert(ctx, PushArgs{Company: a.CompanyID, Agent: a.ID, ID: id, Body: body}, time.Time{}); err != nil {
				return err
			}
		}
		return tx.Complete(ctx, job)
	})
}

// pusher works the jobs of pushes.
type pusher struct {
	river.WorkerDefaults[PushArgs]
	runner *runner
	busy   *companyLimiter
}

// NextRetry is two seconds later.
func (*pusher) NextRetry(*river.Job[PushArgs]) time.Time { return time.Now().Add(pushAfter) }

// errPushNotAccepted is the error of a push that is retried.
var errPushNotAccepted = errors.New("the endpoint did not take the push")

// Work makes one signed call. The limit of concurrent pushes per company is the same as for calls of models.
func (w *pusher) Work(ctx context.Context, job *river.Job[PushArgs]) error {
	e, args := w.runner.engine, job.Args
	if w.runner.out == nil {
		return nil
	}
	leave, ok := w.busy.enter(args.Company)
	if !ok {
		return river.JobSnooze(busySnooze)
	}
	defer leave()
	a, err := e.Store.Reader().Agent.Get(outside(ctx, e, args.Company), args.Agent)
	if err != nil {
		return wrap("read the agent", ent.MaskNotFound(err))
	}
	secrets, err := signing.Open(e.Sealer, a.ID, e.Store.Clock().Now(), a.SecretSealed, a.PreviousSealed, a.PreviousUntil)
	if err != nil {
		return err
	}
	if !w.runner.push(ctx, a.EndpointURL, args.ID, secrets, args.Body) && job.Attempt < pushes {
		return errPushNotAccepted
	}
	return nil
}

// push makes one signed call, and reports whether the response is 2xx.
func (w *runner) push(ctx context.Context, url, id string, secrets []secret.Value, body []byte) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Atrium-Agents/1.0")
	if err := signing.Sign(req.Header, secrets, id, time.Now(), body); err != nil {
		w.engine.Log.ErrorContext(ctx, "a push to an agent could not be signed", "error", err, "run", id)
		return false
	}
	answer, err := w.out.Do(ctx, req, egress.Limits{Timeout: pushTime, Body: 1 << 10})
	return err == nil && answer.Status >= 200 && answer.Status < 300
}

// LeaseArgs is the job that checks whether the lease of a run has expired.
type LeaseArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`

	Plan int       `json:"plan,omitempty"` // of a claimed run: the plan, whose minutes are over at End
	End  time.Time `json:"end,omitzero"`
}

// Kind names the job.
func (LeaseArgs) Kind() string { return "agent_lease" }

// InsertOpts puts the job into the queue of the deadlines.
func (LeaseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: deadlineQueue}
}

// leaser ends expired leases.
type leaser struct {
	river.WorkerDefaults[LeaseArgs]
	engine *op.Engine
}

// Work hands a run over whose lease has expired or whose minutes are over, and inserts itself again for a renewed lease.
func (w *leaser) Work(ctx context.Context, job *river.Job[LeaseArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		run, _, err := lockRun(ctx, tx, job.Args.Run)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return err
		}
		args := job.Args
		if args.Plan != 0 && args.Plan != run.Plans {
			return tx.Complete(ctx, job.JobRow) // each plan has a job of its own
		}
		if leased := run.Status == agentrun.StatusQUEUED || run.Status == agentrun.StatusRUNNING; !leased || run.LeaseUntil == nil {
			return tx.Complete(ctx, job.JobRow)
		}
		now := tx.Now(ctx)
		ends := !args.End.IsZero()
		switch {
		case run.Edges.Agent.Status == agent.StatusPAUSED: // the run continues when the agent is resumed
			if ends {
				args.End = args.End.Add(leaseTime)
			}
			err = tx.Insert(ctx, args, now.Add(leaseTime))
		case ends && !now.Before(args.End):
			err = end(ctx, tx, run, agentrun.StatusHANDED_OVER, "The agent has had the minutes of the run.")
		case now.Before(*run.LeaseUntil):
			next := *run.LeaseUntil
			if ends && args.End.Before(next) {
				next = args.End
			}
			err = tx.Insert(ctx, args, next)
		case run.Status == agentrun.StatusQUEUED:
			err = end(ctx, tx, run, agentrun.StatusHANDED_OVER, "UNRESPONSIVE: nothing was heard of the agent in time.")
		default:
			err = end(ctx, tx, run, agentrun.StatusHANDED_OVER, "Nothing was heard of the agent for five minutes.")
		}
		if err != nil {
			return err
		}
		return tx.Complete(ctx, job.JobRow)
	})
}
