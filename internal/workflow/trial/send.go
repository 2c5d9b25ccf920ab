package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/workflow"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/share"
	"atrium/internal/secret"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
	"atrium/internal/workflow/execution"
)

// Send makes the call of a phase once, with what a trial has when it comes there, and with the company's secrets. Nothing is kept of it but
// the audit entry. Like publishing what sends a secret to a new place, it takes a recent proof of a person.
var Send = op.OnRow("workflow.send_call", op.Spec{
	Resource: "Workflow", Action: op.Update, Scope: "workflows:write", AdminLayer: true, Past: map[string]string{"workflow.send_call": "workflow.call_sent"},
	Summary: "Make the call of a workflow's phase once, and keep nothing of it",
}, func(ctx context.Context, tx *op.Tx, id string) (*ent.Workflow, error) {
	return tx.Workflow.Query().Where(workflow.ID(id)).Only(ctx)
}, send).WithVerbs(func(SendInput) []string { return []string{"workflow.send_call", "workflow.update", "secret.send"} }).Calling(prepareSend)

// SendInput is a phase that calls another server, and what its workflow is tried on to come there.
type SendInput struct {
	op.ByID
	PhaseID string `json:"phaseId" minLength:"1" maxLength:"64" doc:"The phase whose call is made." example:"order"`
	On
}

// Sent is a call that was made.
type Sent struct {
	Sent       json.RawMessage // as Call.Sent
	Answer     json.RawMessage // what a trial takes as the answer of the phase
	Unreadable *string         // why the body could not be read; nil if it could
	DurationMs int

	host    string
	secrets []secret.Opened
}

const (
	sendTime = 25 * time.Second // of a call: somebody waits for it
	sends    = 16               // calls that a process makes for callers who wait
	ownSends = 2                // of one company
)

var sending = share.New(sends, ownSends)

// prepareSend makes the call. Returns validation_error for an answer that is missing before it, and conflict if the trial does not come to it or it
// cannot be written.
func prepareSend(ctx context.Context, tx *op.Tx, in SendInput) (any, error) {
	if tx.Egress() == nil {
		return nil, apperr.New(apperr.Conflict, "This server calls nobody.")
	}
	ctx = tx.Filtered(ctx)
	out, err := outgoing(ctx, tx, in)
	if err != nil {
		return nil, err
	}
	leave, ok := sending.TakeNow(tx.Principal().CompanyID)
	if !ok {
		return nil, apperr.New(apperr.Conflict, "Other calls are being made. Try again when they are answered.")
	}
	defer leave()
	began := time.Now()
	sent, err := out.Send(ctx, tx.Egress(), sendTime)
	if err != nil {
		return nil, err
	}
	return sentOf(sent, out, time.Since(began))
}

// outgoing returns the call as it would be made.
func outgoing(ctx context.Context, tx *op.Tx, in SendInput) (out *execution.Outgoing, err error) {
	of := Input{ID: &in.ID, On: in.On}
	d, err := compiled(ctx, tx, of)
	if err != nil {
		return nil, err
	}
	p := d.Phase(in.PhaseID)
	if p == nil || !calls(p) {
		return nil, apperr.InvalidField("phaseId", "must be a phase of the definition that calls another server")
	}
	t, err := ready(ctx, tx, d, of, p.ID)
	if err != nil {
		return nil, err
	}
	err = tx.Costly(sameForAll(ctx, tx), func(ctx context.Context) error {
		if err := t.run(ctx); err != nil {
			return err
		}
		open := t.now.State.Open()
		i := slices.IndexFunc(open, func(at *engine.State) bool { return at.Visit.PhaseID == p.ID && at.Wait.For == engine.ForCall })
		if i < 0 {
			return t.missed(p)
		}
		ctx, _ = definition.WithBudget(ctx, maxEval)
		var stuck engine.Input
		out, stuck, err = t.r.Outgoing(ctx, tx, open[i].Visit, t.at)
		if s, ok := stuck.(engine.Stuck); ok {
			return apperr.New(apperr.Conflict, "%s", s.Message)
		}
		return err
	})
	return out, err
}

// missed says why a trial did not come to the call of a phase.
func (t *trial) missed(p *definition.Phase) error {
	switch {
	case t.out.Error != nil:
		return apperr.New(apperr.Conflict, "%s", t.out.Error.Message)
	case t.out.Stopped != nil && t.out.Stopped.Answer != nil:
		return apperr.InvalidField(*t.out.Stopped.Answer, "is required: the workflow asks for it before this call")
	case t.out.Stopped != nil:
		return apperr.New(apperr.Conflict, "%s", t.out.Stopped.Message)
	}
	return apperr.New(apperr.Conflict, "The workflow ends without coming to %s. Try it on something else.", p.Title())
}

func sentOf(s *execution.Sent, of *execution.Outgoing, took time.Duration) (_ *Sent, err error) {
	out := &Sent{DurationMs: int(took.Milliseconds()), host: of.Host, secrets: of.Secrets}
	answer := map[string]any{"failure": s.Failure}
	if s.Answer != nil {
		answer = map[string]any{"status": s.Answer.Status, "headers": engine.Headers(s.Answer.Header), "body": s.Answer.Body}
		if s.Answer.Unreadable != "" {
			out.Unreadable = &s.Answer.Unreadable
		}
	}
	if out.Sent, err = json.Marshal(s.Sent); err != nil {
		return nil, fmt.Errorf("show the call: %w", err)
	}
	if out.Answer, err = json.Marshal(answer); err != nil {
		return nil, fmt.Errorf("show the answer: %w", err)
	}
	return out, nil
}

// send records the call that was made.
func send(ctx context.Context, tx *op.Tx, w *ent.Workflow, in SendInput) (*Sent, error) {
	out, ok := op.Preparation[*Sent](tx)
	if !ok {
		return nil, apperr.New(apperr.Conflict, "The call was not made.")
	}
	tx.About(w.ID)
	tx.ChangedField("phaseId", nil, in.PhaseID)
	tx.ChangedField("host", nil, out.host)
	now := tx.Now(ctx)
	if ids := secret.DueForTouch(out.secrets, now); len(ids) > 0 {
		return out, secret.TouchLastUsed(ctx, tx.Client, ids, now)
	}
	return out, nil
}
