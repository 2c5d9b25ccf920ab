package plans

import (
	"context"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/agent/history"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// Decider is a request that an engine decides about, and the rights with which it does so.
type Decider struct {
	engine    *op.Engine
	Agent     *ent.Agent
	Settings  settings.Settings
	Subject   Subject
	Self      *principal.Principal // nil if the agent's owner was deactivated
	Read      context.Context      // of the reader: the agent, and the requester as well unless the agent sees by itself
	Requester *principal.Principal // the requester; nil if the agent sees by itself
	Earlier   Earlier
}

// Earlier is what a run did in its earlier plans: a plan goes on with its steps, and its budgets are those of the run.
type Earlier struct {
	steps []runs.Step
	used  usage
}

// NewDecider determines the principals as which an engine reads and acts.
func NewDecider(ctx context.Context, e *op.Engine, c *settings.Selected, s Subject) (*Decider, error) {
	l := &Decider{engine: e, Agent: c.Agent, Settings: c.Settings, Subject: s, Read: ctx}
	db := e.Store.Reader()
	var err error
	if l.Self, err = settings.PrincipalOf(ctx, db, c.Agent, c.Settings); err != nil || l.Self == nil {
		return l, err
	}
	reader := *l.Self
	if c.Settings.Sees == string(agent.SeesRequester) {
		if l.Requester, err = settings.RequesterOf(ctx, db, s.Request); err != nil {
			return nil, err
		}
		reader.Run.Requester = l.Requester
	}
	l.Read = principal.With(ctx, &reader)
	return l, nil
}

// MayRead reports whether the agent, and the requester unless the agent sees by itself, may read what the run is about. Nothing of it
// goes to a model otherwise. A run's task may be read by its agent whatever the requester may.
func (l *Decider) MayRead() (bool, error) {
	_, _, err := op.Run(l.Read, l.engine, request.Get, op.ByID{ID: l.Subject.ID}, nil)
	if p, ok := principal.From(l.Read); ok && err == nil && l.Subject.Task != nil {
		as := *p
		as.Run.TaskID = l.Subject.Task.ID
		_, _, err = op.Run(principal.With(l.Read, &as), l.engine, execution.GetTask, op.ByID{ID: as.Run.TaskID}, nil)
	}
	if code := apperr.CodeOf(err); err != nil && (code == apperr.Forbidden || code == apperr.NotFound) {
		return false, nil
	}
	return err == nil, worker.Wrap("ask what the agent may read", err)
}

// history returns the finished requests that the reader may read; none if the reader may read no requests.
func (l *Decider) history() (history.Finished, error) {
	h, _, err := op.Run(l.Read, l.engine, history.Read, history.Input{Not: l.Subject.Not, Only: l.Subject.Only}, nil)
	if apperr.CodeOf(err) == apperr.Forbidden {
		return history.Finished{}, nil
	}
	return h, worker.Wrap("read the history", err)
}

// mayWrite checks the agent's rights to a write, and records whether the write needs an approval at any autonomy level. For an
// opinion only a policy requires one. Call it outside of transactions. Returns forbidden for a write that the agent may not do.
func (l *Decider) mayWrite(ctx context.Context, t *tools.Tool, w *tools.Write) error {
	args := w.Arguments
	if l.Subject.Asked {
		said, err := tools.SaidIn(args)
		if err != nil {
			return err
		}
		if args, err = tools.OpinionOf(l.Self, said); err != nil {
			return err
		}
	}
	policy, err := t.MayUse(ctx, l.engine.Outside(principal.Worker(l.Subject.CompanyID, worker.Name)), l.Self, tools.Target{Request: l.Subject.Request, Task: l.Subject.Task}, args)
	if err != nil {
		return err
	}
	always := l.Settings.Mode(t.Name) == settings.Approve || t.Name == tools.Decline || t.Name == tools.Move
	w.Waits = policy != "" || always && !l.Subject.Asked
	return nil
}
