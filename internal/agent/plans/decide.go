package plans

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

// Decide lets an engine decide about a request from start to end. A model gets the recorded input, if there is one.
func Decide(ctx context.Context, l *Decider, models worker.Models, recorded Input) (*Plan, error) {
	if l.Self == nil || l.Settings.Engine != string(agent.EngineModel) {
		return Make(ctx, l, l.engine.Store.Clock().Now)
	}
	at, _, err := EndpointOf(ctx, l.engine, models, l.Settings)
	if err != nil {
		return nil, err
	}
	version, err := l.Subject.Version()
	if err != nil {
		return nil, err
	}
	t, g, err := NewConversation(ctx, l, recorded)
	if err != nil {
		return nil, err
	}
	for !t.Over {
		n, err := t.Ask(ctx, at)
		if err != nil {
			return nil, err
		}
		t.AddExchange(n)
	}
	return t.Plan(version, g), nil
}

// NewConversation returns a conversation and its input: the recorded one, or the current one if none is recorded. The conversation masks
// the company's secrets, and keys that people have pasted, for the model.
func NewConversation(ctx context.Context, l *Decider, recorded Input) (*Conversation, Input, error) {
	mask, err := secret.Hide(ctx, l.engine.Store.Reader(), l.engine.Sealer)
	if err != nil {
		return nil, Input{}, err
	}
	t := &Conversation{Decider: l, mask: mask, now: l.engine.Store.Clock().Now}
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
func (t *Conversation) readInput() (Input, error) {
	h, err := t.history()
	if err != nil {
		return Input{}, err
	}
	g, err := givenOf(t.Subject.Request, h)
	g.Task = t.Subject.Task
	if err != nil {
		return g, err
	}
	if g.Data, g.IDs, err = dataOf(t.Read, t.engine, t.Subject, h, t.mask); err != nil {
		return g, err
	}
	g.Used = t.Earlier.used
	g.Steps = append(slices.Clone(t.Earlier.steps), runs.Step{
		N: len(t.Earlier.steps) + 1, Kind: "read", Operation: "request", Rows: append([]string{t.Subject.row()}, g.IDs...)[:min(shownRows, 1+len(g.IDs))],
		Result: fmt.Sprintf("Looked at the request and %d finished ones.", len(h.Requests)), At: t.now().UTC(),
	})
	return g, nil
}

// Plan returns the result of a conversation.
func (t *Conversation) Plan(version string, g Input) *Plan {
	p := &Plan{
		Version: version, Given: g, Steps: t.steps, Writes: t.writes, Reason: t.Reason, Self: t.Self,
		Used: t.used,
	}
	if len(p.Writes) == 0 && p.Reason == "" {
		p.Reason = "The agent ended without proposing or doing anything."
	}
	return p
}

// Retrace runs the recorded answers through the current rules.
func Retrace(ctx context.Context, l *Decider, g Input, turns []Exchange) (*Plan, error) {
	t, g, err := NewConversation(ctx, l, g)
	if err != nil {
		return nil, err
	}
	for _, was := range turns {
		n, err := t.answered(ctx, was.Answer, was.Results)
		if err != nil {
			return nil, err
		}
		t.AddExchange(n)
	}
	return t.Plan("", g), nil
}

// WritesOf returns the writes that a run decided on. Those of a conversation are what was left when it ended by the limits of its
// version.
func WritesOf(s settings.Settings, g Input, turns []Exchange) []tools.Write {
	if len(turns) == 0 {
		return g.Writes
	}
	t := &Conversation{Decider: &Decider{Settings: s}, mask: func(v any) any { return v }}
	t.begin(g)
	for _, n := range turns {
		t.AddExchange(n)
	}
	return t.writes
}
