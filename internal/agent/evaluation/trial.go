package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/ent/agentrun"
	"atrium/ent/request"
	"atrium/ent/task"
	"atrium/internal/agent/model"
	"atrium/internal/agent/plans"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/strictjson"
)

// trialTime is the time limit of a trial: a caller waits for it.
const trialTime = 25 * time.Second

// The operations that try agents and store no result.
var (
	Test = op.OnRow("agent.test", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Past: map[string]string{"agent.test": "agent.tested"},
		Summary: "Have an agent's draft look at a request, and keep nothing of it",
	}, settings.Load, test).Calling(prepareTest)

	Replay = op.OnRow("agentrun.replay", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Past: map[string]string{"agentrun.replay": "agentrun.replayed"},
		Summary: "Drive a run again from what was recorded, and keep nothing of it",
	}, loadReplayed, answerTrial[ReplayInput]).Calling(prepareReplay)
)

// Trial is a run that is not stored.
type Trial struct {
	AgentID      string
	Version      int // 0 for the draft
	RequestID    string
	Status       string // the status in which the run would have ended or waited
	Reason       string
	Steps        []*runs.Step
	Actions      []*TrialAction
	ModelCalls   int
	InputTokens  int
	OutputTokens int
	Same         *bool // whether the actions equal those of the replayed run; null for a test
}

// TrialAction is an action that the agent would have done.
type TrialAction struct {
	Operation  string
	Arguments  json.RawMessage
	Changes    []*tools.Change
	Rationale  string
	Confidence float64
	Rows       []string
	Waits      bool // needs an approval at any autonomy level
}

// TestInput names an agent and a request.
type TestInput struct {
	op.ByID
	RequestID string `json:"requestId" minLength:"1" maxLength:"64" doc:"The request that it looks at, as if it had just been filed."`
}

// ReplayInput names a run.
type ReplayInput struct {
	op.ByID
	Version *int `json:"version,omitempty" nullable:"true" minimum:"1" doc:"Another version of its agent, whose engine decides anew on what the run was given; the number after the last published one is the draft. The recorded answers when not given."`
}

// loadReplayed returns the agent of a run. The right to try an agent includes the right to replay its runs.
func loadReplayed(ctx context.Context, tx *op.Tx, id string) (*ent.Agent, error) {
	run, err := tx.AgentRun.Query().Where(append(runs.Shown(tx), agentrun.ID(id))...).Only(ctx)
	if err != nil {
		return nil, err
	}
	return settings.Load(ctx, tx, run.AgentID)
}

func answerTrial[In any](_ context.Context, tx *op.Tx, a *ent.Agent, _ In) (*Trial, error) {
	t, ok := op.Preparation[*Trial](tx)
	if !ok || t == nil {
		return nil, op.ErrOutdated
	}
	tx.About(a.ID)
	tx.ChangedField("requestId", nil, t.RequestID)
	return t, nil
}

// test returns validation_error for a request that the caller may not read.
func test(ctx context.Context, tx *op.Tx, a *ent.Agent, in TestInput) (*Trial, error) {
	shown, err := tx.Request.Query().Where(request.ID(in.RequestID)).Exist(ctx)
	if err != nil {
		return nil, fmt.Errorf("look the request up: %w", err)
	}
	if !shown {
		return nil, runs.ErrUnread
	}
	return answerTrial(ctx, tx, a, in)
}

// prepareTest lets the draft decide. Returns not_found for an agent and validation_error for a request that the caller may not
// see.
func prepareTest(ctx context.Context, tx *op.Tx, in TestInput) (any, error) {
	a, err := tx.Agent.Query().Where(agent.ID(in.ID)).Only(ctx)
	if err != nil {
		return nil, err
	}
	r, err := tx.Request.Query().Where(request.ID(in.RequestID)).Only(tx.Filtered(ctx)) // before a model is told of it
	if ent.IsNotFound(err) {
		return nil, runs.ErrUnread
	}
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	s, err := settings.DraftOf(a)
	if err != nil {
		return nil, err
	}
	about := plans.Subject{Request: r, Not: []string{r.ID}}
	if a.Type == agent.TypeWORKFLOW_PHASE {
		about.Task, err = tx.Task.Query().Where(task.RequestID(r.ID)).Order(ent.Desc(task.FieldCreatedAt, task.FieldID)).First(ctx)
		if ent.IsNotFound(err) {
			return nil, apperr.InvalidField("requestId", "must be a request with a task: the agent works phases")
		}
		if err != nil {
			return nil, fmt.Errorf("read the request's task: %w", err)
		}
	}
	return tryDraft(ctx, tx, &settings.Selected{Agent: a, Settings: s}, about, plans.Input{})
}

// tryDraft lets an engine decide about a request within trialTime. recorded is the input of a replayed run. Returns conflict for
// a CUSTOM agent, while agents are disabled, if the model cannot be called, and after the time limit.
func tryDraft(ctx context.Context, tx *op.Tx, c *settings.Selected, s plans.Subject, recorded plans.Input) (*Trial, error) {
	d := worker.ServerOf(tx)
	switch {
	case d.Engine == nil || tx.NoAgents():
		return nil, worker.SwitchedOff()
	case c.Agent.Source != agent.SourceMANAGED:
		return nil, apperr.New(apperr.Conflict, "The company runs this agent: there is nothing here to try.")
	}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	read := principal.With(ctx, principal.Worker(c.Agent.CompanyID, worker.Name))
	l, err := plans.NewDecider(read, d.Engine, c, s)
	if err != nil {
		return nil, err
	}
	p, err := plans.Decide(read, l, d.Models, recorded)
	if unasked, ok := errors.AsType[*model.Error](err); ok {
		return nil, apperr.New(apperr.Conflict, "The model could not be asked: %s.", unasked.Error())
	}
	if err != nil && ctx.Err() != nil {
		return nil, apperr.New(apperr.Conflict, "The agent took more than %d seconds.", int(trialTime.Seconds()))
	}
	if err != nil {
		return nil, err
	}
	return trialOf(l, p), nil
}

func trialOf(l *plans.Decider, p *plans.Plan) *Trial {
	out := &Trial{
		AgentID: l.Agent.ID, RequestID: l.Subject.ID, Reason: p.Reason, Steps: []*runs.Step{}, Actions: []*TrialAction{}, ModelCalls: p.Used.Calls,
		InputTokens: p.Used.Input, OutputTokens: p.Used.Output, Status: string(agentrun.StatusHANDED_OVER),
	}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, &s)
	}
	for _, w := range p.Writes {
		a := &TrialAction{
			Operation: w.Tool, Arguments: w.Arguments, Rationale: w.Rationale, Confidence: w.Confidence, Rows: w.Rows, Waits: w.Waits, Changes: []*tools.Change{},
		}
		for _, c := range w.Changes {
			a.Changes = append(a.Changes, &c)
		}
		out.Actions = append(out.Actions, a)
		switch {
		case l.Subject.Asked && w.Waits:
			out.Status = string(agentrun.StatusWAITING)
		case l.Subject.Asked:
			out.Status = string(agentrun.StatusCOMPLETED)
		case l.Settings.Shadow || l.Settings.Autonomy == string(agent.AutonomySUGGEST):
			out.Status = string(agentrun.StatusPROPOSED)
		case l.Settings.Autonomy == string(agent.AutonomyACT_WITH_APPROVAL) || w.Waits:
			out.Status = string(agentrun.StatusWAITING)
		case out.Status == string(agentrun.StatusHANDED_OVER):
			out.Status = string(agentrun.StatusCOMPLETED)
		}
	}
	return out
}

// prepareReplay replays a run. Returns not_found for a run that the caller may not see, and conflict for a run without a record.
func prepareReplay(ctx context.Context, tx *op.Tx, in ReplayInput) (any, error) {
	run, err := tx.AgentRun.Query().Where(append(runs.Shown(tx), agentrun.ID(in.ID))...).WithAgent().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, apperr.Wrap(err, apperr.NotFound, "AgentRun not found.")
	}
	if err != nil {
		return nil, err
	}
	shown, err := tx.Request.Query().Where(request.ID(run.RequestID)).Exist(tx.Filtered(ctx)) // before a model is told of it
	if err != nil {
		return nil, fmt.Errorf("look the request up: %w", err)
	}
	if !shown {
		return nil, apperr.Missing("AgentRun")
	}
	all := principal.With(ctx, principal.Worker(run.CompanyID, worker.Name))
	g, turns, err := plans.TurnsOf(all, tx.Client, run.ID, run.Plans)
	if err != nil {
		return nil, err
	}
	if len(g.Request) == 0 || run.Edges.Agent == nil {
		return nil, apperr.New(apperr.Conflict, "Nothing was recorded of this run: it had not decided, its agent is the company's own, or an erasure took it.")
	}
	was := &ent.Request{}
	if err := json.Unmarshal(g.Request, was); err != nil {
		return nil, fmt.Errorf("read the request as it was: %w", err)
	}
	s, err := versionOf(all, tx.Client, run, in.Version)
	if err != nil {
		return nil, err
	}
	c := &settings.Selected{Agent: run.Edges.Agent, Settings: s}
	about := plans.Subject{Request: was, Task: g.Task, Asked: run.Trigger == agentrun.TriggerConsulted, Only: g.History}
	var out *Trial
	if in.Version == nil && len(turns) > 0 {
		out, err = replay(all, tx, c, about, g, turns)
	} else {
		out, err = tryDraft(ctx, tx, c, about, g)
	}
	if err != nil {
		return nil, err
	}
	own, err := settings.Published(all, tx.Client, run.AgentID, run.AgentVersion)
	if err != nil {
		return nil, err
	}
	out.Same = new(sameWrites(out.Actions, plans.WritesOf(own, g, turns)))
	if out.Version = run.AgentVersion; in.Version != nil {
		out.Version = *in.Version
	}
	return out, nil
}

// versionOf returns the settings for a replay: those of the run's version or of the given one.
func versionOf(ctx context.Context, db *ent.Client, run *ent.AgentRun, version *int) (settings.Settings, error) {
	switch a := run.Edges.Agent; {
	case version == nil:
		return settings.Published(ctx, db, a.ID, run.AgentVersion)
	case *version == a.Version+1:
		return settings.DraftOf(a)
	case *version > a.Version:
		return settings.Settings{}, apperr.InvalidField("version", "is none of the agent's")
	default:
		return settings.Published(ctx, db, a.ID, *version)
	}
}

// replay replays the recorded answers of a run.
func replay(ctx context.Context, tx *op.Tx, c *settings.Selected, s plans.Subject, g plans.Input, turns []plans.Exchange) (*Trial, error) {
	d := worker.ServerOf(tx)
	if d.Engine == nil {
		return nil, worker.SwitchedOff()
	}
	l, err := plans.NewDecider(ctx, d.Engine, c, s)
	if err != nil {
		return nil, err
	}
	p, err := plans.Retrace(ctx, l, g, turns)
	if err != nil {
		return nil, err
	}
	return trialOf(l, p), nil
}

// sameWrites reports whether a replay decided on the same writes as the run.
func sameWrites(is []*TrialAction, was []tools.Write) bool {
	if len(is) != len(was) {
		return false
	}
	for i := range is {
		if is[i].Operation != was[i].Tool || !strictjson.Equal(is[i].Arguments, was[i].Arguments) {
			return false
		}
	}
	return true
}
