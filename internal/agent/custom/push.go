package custom

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
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/egress"
	"atrium/internal/platform/jobs"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

const (
	// Queue is the queue of the pushes.
	Queue = "agent_pushes"

	pushes    = 3 // attempts to deliver one push
	pushAfter = 2 * time.Second
	pushTime  = 2 * time.Second // timeout of one call
)

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
	return river.InsertOpts{Queue: Queue, MaxAttempts: pushes}
}

// PushRun sends a run to the endpoint of a CUSTOM agent. If the agent makes no call, the end of the run's lease shows it.
func PushRun(ctx context.Context, e *op.Engine, job *rivertype.JobRow, run *ent.AgentRun) error {
	body, err := json.Marshal(pushed{
		Event: "agent.run", Timestamp: run.CreatedAt.UTC().Format(clock.Format),
		Data: pushedData{ID: run.ID, RequestID: run.RequestID, TaskID: run.TaskID},
	})
	if err != nil {
		return fmt.Errorf("write the push: %w", err)
	}
	return QueuePush(ctx, e, job, run.Edges.Agent, fmt.Sprintf("%s-%d", run.ID, run.Plans), body)
}

// QueuePush queues a message to an agent's endpoint and completes the job. An agent without an endpoint polls for its runs.
func QueuePush(ctx context.Context, e *op.Engine, job *rivertype.JobRow, a *ent.Agent, id string, body []byte) error {
	return e.Work(ctx, a.CompanyID, worker.Name, func(ctx context.Context, tx *op.Tx) error {
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
	engine *op.Engine
	out    *egress.Client
	busy   *worker.Limiter
}

// NextRetry is two seconds later.
func (*pusher) NextRetry(*river.Job[PushArgs]) time.Time { return time.Now().Add(pushAfter) }

// errPushNotAccepted is the error of a push that is retried.
var errPushNotAccepted = errors.New("the endpoint did not take the push")

// Work makes one signed call. The limit of concurrent pushes per company is the same as for calls of models.
func (w *pusher) Work(ctx context.Context, job *river.Job[PushArgs]) error {
	e, args := w.engine, job.Args
	if w.out == nil {
		return nil
	}
	leave, ok := w.busy.Enter(args.Company)
	if !ok {
		return river.JobSnooze(worker.BusySnooze)
	}
	defer leave()
	a, err := e.Store.Reader().Agent.Get(worker.Outside(ctx, e, args.Company), args.Agent)
	if err != nil {
		return worker.Wrap("read the agent", ent.MaskNotFound(err))
	}
	secrets, err := signing.Open(e.Sealer, a.ID, e.Store.Clock().Now(), a.SecretSealed, a.PreviousSealed, a.PreviousUntil)
	if err != nil {
		return err
	}
	if !w.push(ctx, a.EndpointURL, args.ID, secrets, args.Body) && job.Attempt < pushes {
		return errPushNotAccepted
	}
	return nil
}

// push makes one signed call, and reports whether the response is 2xx.
func (w *pusher) push(ctx context.Context, url, id string, secrets []secret.Value, body []byte) bool {
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

// Workers returns the worker of the jobs of pushes, which out sends; nil sends none.
func Workers(e *op.Engine, out *egress.Client) jobs.Option {
	return jobs.Work(&pusher{engine: e, out: out, busy: &worker.Limiter{}})
}
