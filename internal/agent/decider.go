package agent

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

// decisionContext is a request that an engine decides about, and the rights with which it does so.
type decisionContext struct {
	engine    *op.Engine
	agent     *ent.Agent
	settings  settings.Settings
	subject   subject
	self      *principal.Principal // nil if the agent's owner was deactivated
	read      context.Context      // of the reader: the agent, and the requester as well unless the agent sees by itself
	requester *principal.Principal // the requester; nil if the agent sees by itself
	earlier   earlier
}

// earlier is what a run did in its earlier plans: a plan goes on with its steps, and its budgets are those of the run.
type earlier struct {
	steps []runs.Step
	used  usage
}

// newDecisionContext determines the principals as which an engine reads and acts.
func newDecisionContext(ctx context.Context, e *op.Engine, c *settings.Selected, s subject) (*decisionContext, error) {
	l := &decisionContext{engine: e, agent: c.Agent, settings: c.Settings, subject: s, read: ctx}
	db := e.Store.Reader()
	var err error
	if l.self, err = settings.PrincipalOf(ctx, db, c.Agent, c.Settings); err != nil || l.self == nil {
		return l, err
	}
	reader := *l.self
	if c.Settings.Sees == string(agent.SeesRequester) {
		if l.requester, err = settings.RequesterOf(ctx, db, s.Request); err != nil {
			return nil, err
		}
		reader.Run.Requester = l.requester
	}
	l.read = principal.With(ctx, &reader)
	return l, nil
}

// mayRead reports whether the agent, and the requester unless the agent sees by itself, may read what the run is about. Nothing of it
// goes to a model otherwise. A run's task may be read by its agent whatever the requester may.
func (l *decisionContext) mayRead() (bool, error) {
	_, _, err := op.Run(l.read, l.engine, request.Get, op.ByID{ID: l.subject.ID}, nil)
	if p, ok := principal.From(l.read); ok && err == nil && l.subject.task != nil {
		as := *p
		as.Run.TaskID = l.subject.task.ID
		_, _, err = op.Run(principal.With(l.read, &as), l.engine, execution.GetTask, op.ByID{ID: as.Run.TaskID}, nil)
	}
	if code := apperr.CodeOf(err); err != nil && (code == apperr.Forbidden || code == apperr.NotFound) {
		return false, nil
	}
	return err == nil, worker.Wrap("ask what the agent may read", err)
}

// history returns the finished requests that the reader may read; none if the reader may read no requests.
func (l *decisionContext) history() (history.Finished, error) {
	h, _, err := op.Run(l.read, l.engine, history.Read, history.Input{Not: l.subject.not, Only: l.subject.only}, nil)
	if apperr.CodeOf(err) == apperr.Forbidden {
		return history.Finished{}, nil
	}
	return h, worker.Wrap("read the history", err)
}

// mayWrite checks the agent's rights to a write, and records whether the write needs an approval at any autonomy level. For an
// opinion only a policy requires one. Call it outside of transactions. Returns forbidden for a write that the agent may not do.
func (l *decisionContext) mayWrite(ctx context.Context, t *tools.Tool, w *tools.Write) error {
	args := w.Arguments
	if l.subject.asked {
		said, err := tools.SaidIn(args)
		if err != nil {
			return err
		}
		if args, err = tools.OpinionOf(l.self, said); err != nil {
			return err
		}
	}
	policy, err := t.MayUse(ctx, l.engine.Outside(principal.Worker(l.subject.CompanyID, worker.Name)), l.self, tools.Target{Request: l.subject.Request, Task: l.subject.task}, args)
	if err != nil {
		return err
	}
	always := l.settings.Mode(t.Name) == settings.Approve || t.Name == tools.Decline || t.Name == tools.Move
	w.Waits = policy != "" || always && !l.subject.asked
	return nil
}
