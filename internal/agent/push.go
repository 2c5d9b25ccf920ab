package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/riverqueue/river"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/internal/agent/interrupt"
	"atrium/internal/clock"
	"atrium/internal/egress"
	"atrium/internal/op"
	"atrium/internal/webhook"
)

const (
	pushes    = 3 // of one run, until its receiver takes it
	pushAfter = 2 * time.Second
	pushTime  = 2 * time.Second // of one call
)

// Caller makes calls to the outside, through the guard of addresses.
type Caller interface {
	Do(ctx context.Context, r *http.Request, l egress.Limits) (egress.Answer, error)
}

// pushed is what a push says: enough to ask for the rest with the agent's key.
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

// offer has a run of a CUSTOM agent wait for its first sign, and tells its endpoint. A receiver that cannot be reached is tried
// again; that nothing is heard of it is found by the lease.
func (w *runner) offer(ctx context.Context, job *river.Job[interrupt.RunArgs], run *ent.AgentRun) error {
	a := run.Edges.Agent
	if a.EndpointURL == "" {
		return nil // it asks for its runs, or shows no sign
	}
	body, err := json.Marshal(pushed{
		Event: "agent.run", Timestamp: run.CreatedAt.UTC().Format(clock.Format),
		Data: pushedData{ID: run.ID, RequestID: run.RequestID, TaskID: run.TaskID},
	})
	if err != nil {
		return fmt.Errorf("write the push: %w", err)
	}
	return w.send(ctx, a, run.ID, body)
}

// send makes a signed call of an agent's endpoint, up to three times, until it is taken.
func (w *runner) send(ctx context.Context, a *ent.Agent, id string, body []byte) error {
	if w.out == nil {
		return nil
	}
	sealed := [][]byte{a.SecretSealed}
	if a.PreviousUntil != nil && w.engine.Store.Clock().Now().Before(*a.PreviousUntil) && len(a.PreviousSealed) > 0 {
		sealed = append(sealed, a.PreviousSealed)
	}
	secrets, err := webhook.Unseal(w.engine.Sealer, a.ID, sealed...)
	if err != nil {
		return err
	}
	for n := range pushes {
		if n > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(pushAfter):
			}
		}
		if w.push(ctx, a.EndpointURL, id, secrets, body) {
			return nil
		}
	}
	return nil // the lease hands a run over
}

// push makes one signed call, and reports whether its receiver has taken it.
func (w *runner) push(ctx context.Context, url, id string, secrets []webhook.Secret, body []byte) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Atrium-Agents/1.0")
	if err := webhook.Sign(req.Header, secrets, id, time.Now(), body); err != nil {
		w.engine.Log.ErrorContext(ctx, "a push to an agent could not be signed", "error", err, "run", id)
		return false
	}
	answer, err := w.out.Do(ctx, req, egress.Limits{Timeout: pushTime, Body: 1 << 10})
	return err == nil && answer.Status >= 200 && answer.Status < 300
}

// LeaseArgs is the job that looks whether anything was heard of a run.
type LeaseArgs struct {
	Company string `json:"company"`
	Run     string `json:"run"`
}

// Kind names the job.
func (LeaseArgs) Kind() string { return "agent_lease" }

// InsertOpts put the job into the agents' queue.
func (LeaseArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: interrupt.QueueName} }

// leaser ends leases.
type leaser struct {
	river.WorkerDefaults[LeaseArgs]
	engine *op.Engine
}

// Work hands a run over whose lease is over, and comes again at the end of one that was renewed.
func (w *leaser) Work(ctx context.Context, job *river.Job[LeaseArgs]) error {
	return w.engine.Work(ctx, job.Args.Company, workerName, func(ctx context.Context, tx *op.Tx) error {
		run, _, err := lockRun(ctx, tx, job.Args.Run)
		if ent.IsNotFound(err) {
			return tx.Complete(ctx, job.JobRow)
		}
		if err != nil {
			return err
		}
		if leased := run.Status == agentrun.StatusQUEUED || run.Status == agentrun.StatusRUNNING; !leased || run.LeaseUntil == nil {
			return tx.Complete(ctx, job.JobRow)
		}
		a, err := tx.Agent.Get(ctx, run.AgentID)
		if err != nil {
			return fmt.Errorf("read the agent: %w", err)
		}
		now := tx.Now(ctx)
		switch {
		case a.Status == agent.StatusPAUSED: // it goes on when the agent is resumed
			err = tx.Insert(ctx, job.Args, now.Add(leaseTime))
		case now.Before(*run.LeaseUntil):
			err = tx.Insert(ctx, job.Args, *run.LeaseUntil)
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
