package agent

import (
	"context"
	"fmt"
	"slices"

	"atrium/ent/agent"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/secret"
)

// decideOn lets an engine decide about a request from start to end. A model gets the recorded input, if there is one.
func decideOn(ctx context.Context, l *decisionContext, models worker.Models, recorded engineInput) (*plan, error) {
	if l.self == nil || l.settings.Engine != string(agent.EngineModel) {
		return makePlan(ctx, l, l.engine.Store.Clock().Now)
	}
	at, _, err := endpointOf(ctx, l.engine, models, l.settings)
	if err != nil {
		return nil, err
	}
	version, err := l.subject.version()
	if err != nil {
		return nil, err
	}
	t, g, err := newConversation(ctx, l, recorded)
	if err != nil {
		return nil, err
	}
	for !t.over {
		n, err := t.ask(ctx, at)
		if err != nil {
			return nil, err
		}
		t.addExchange(n)
	}
	return t.plan(version, g), nil
}

// newConversation returns a conversation and its input: the recorded one, or the current one if none is recorded. The conversation masks
// the company's secrets, and keys that people have pasted, for the model.
func newConversation(ctx context.Context, l *decisionContext, recorded engineInput) (*conversation, engineInput, error) {
	mask, err := secret.Hide(ctx, l.engine.Store.Reader(), l.engine.Sealer)
	if err != nil {
		return nil, engineInput{}, err
	}
	t := &conversation{decisionContext: l, mask: mask, now: l.engine.Store.Clock().Now}
	g := recorded
	if g.Data == "" {
		if g, err = t.readInput(); err != nil {
			return nil, g, err
		}
	}
	t.begin(g)
	return t, g, nil
}

// readInput reads the input of a conversation.
func (t *conversation) readInput() (engineInput, error) {
	h, err := t.history()
	if err != nil {
		return engineInput{}, err
	}
	g, err := givenOf(t.subject.Request, h)
	g.Task = t.subject.task
	if err != nil {
		return g, err
	}
	if g.Data, g.IDs, err = dataOf(t.read, t.engine, t.subject, h, t.mask); err != nil {
		return g, err
	}
	g.Used = t.earlier.used
	g.Steps = append(slices.Clone(t.earlier.steps), runs.Step{
		N: len(t.earlier.steps) + 1, Kind: "read", Operation: "request", Rows: append([]string{t.subject.row()}, g.IDs...)[:min(shownRows, 1+len(g.IDs))],
		Result: fmt.Sprintf("Looked at the request and %d finished ones.", len(h.Requests)), At: t.now().UTC(),
	})
	return g, nil
}

// plan returns the result of a conversation.
func (t *conversation) plan(version string, g engineInput) *plan {
	p := &plan{
		version: version, given: g, steps: t.steps, writes: t.writes, reason: t.reason, self: t.self,
		used: t.used,
	}
	if len(p.writes) == 0 && p.reason == "" {
		p.reason = "The agent ended without proposing or doing anything."
	}
	return p
}

// retrace runs the recorded answers through the current rules.
func retrace(ctx context.Context, l *decisionContext, g engineInput, turns []exchange) (*plan, error) {
	t, g, err := newConversation(ctx, l, g)
	if err != nil {
		return nil, err
	}
	for _, was := range turns {
		n, err := t.answered(ctx, was.Answer, was.Results)
		if err != nil {
			return nil, err
		}
		t.addExchange(n)
	}
	return t.plan("", g), nil
}

// writesOf returns the writes that a run decided on. Those of a conversation are what was left when it ended by the limits of its
// version.
func writesOf(s settings.Settings, g engineInput, turns []exchange) []tools.Write {
	if len(turns) == 0 {
		return g.Writes
	}
	t := &conversation{decisionContext: &decisionContext{settings: s}, mask: func(v any) any { return v }}
	t.begin(g)
	for _, n := range turns {
		t.addExchange(n)
	}
	return t.writes
}
