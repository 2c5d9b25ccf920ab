package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/agent/history"
	"atrium/internal/agent/runs"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/tools"
	"atrium/internal/agent/worker"
	"atrium/internal/desk/request"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Plan is the decision of an engine about a request.
type Plan struct {
	Version string // of the request that the plan depends on
	Given   Input
	Steps   []runs.Step
	Writes  []tools.Write
	Reason  string // why there are no writes, for people
	Self    *principal.Principal
	Used    usage
}

// usage is what a run has used of its model so far.
type usage struct {
	Calls  int   `json:"calls"`
	Input  int   `json:"input"`  // tokens
	Output int   `json:"output"` // tokens
	Millis int64 `json:"millis"`
}

func (u usage) tokens() int { return u.Input + u.Output }

// shownRows is the maximum number of ids in a step.
const shownRows = 50

// Make lets the engine history decide, from what the agent, and the requester unless the agent sees by itself, may read. It
// writes nothing.
func Make(ctx context.Context, l *Decider, now func() time.Time) (*Plan, error) {
	p := &Plan{Self: l.Self, Steps: slices.Clone(l.Earlier.steps), Used: l.Earlier.used}
	var err error
	if p.Version, err = runs.RequestVersion(l.Subject.Request); err != nil {
		return nil, err
	}
	switch {
	case l.Self == nil:
		p.Reason = runs.NobodyAnswers
		return p, nil
	case l.Settings.Mode(tools.Update) == settings.Off && l.Settings.Mode(tools.Move) == settings.Off:
		p.Reason = "The agent may not use updateRequest or moveRequest."
		return p, nil
	}
	h, err := l.history()
	if err != nil {
		return nil, err
	}
	if p.Given, err = givenOf(l.Subject.Request, h); err != nil {
		return nil, err
	}
	return p, p.fromHistory(ctx, l, h, now())
}

// givenOf returns the input of the engine history.
func givenOf(r *ent.Request, h history.Finished) (Input, error) {
	raw, err := json.Marshal(r)
	g := Input{Request: raw, History: make([]string, 0, len(h.Requests))}
	for _, row := range h.Requests {
		g.History = append(g.History, row.ID)
	}
	return g, worker.Wrap("write the request", err)
}

// fromHistory sets the steps and writes of the plan from the history.
func (p *Plan) fromHistory(ctx context.Context, l *Decider, h history.Finished, at time.Time) error {
	p.step("read", "requests", p.Given.History[:min(shownRows, len(p.Given.History))], fmt.Sprintf("Looked at %d finished requests.", len(h.Requests)), at)
	name := tools.Update
	c := history.Learn(h.Requests)
	changes, err := l.offering(ctx, c, h)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		name = tools.Move // alone, because the rest follows from the offering
	} else if l.Settings.Mode(tools.Update) != settings.Off {
		changes = history.Decide(c, l.Subject.Request, h)
	}
	p.step("decide", name, rowsOf(changes), fmt.Sprintf("Decided on %d changes.", len(changes)), at)
	decided := &p.Steps[len(p.Steps)-1]
	if len(changes) == 0 {
		p.Reason = "No finished request is like this one enough to propose anything."
		return nil
	}
	w, err := writeOf(name, changes)
	if err != nil {
		return err
	}
	decided.Arguments = w.Arguments
	if l.Settings.Autonomy != string(agent.AutonomySUGGEST) { // a proposal is applied with a person's rights
		err = l.mayWrite(ctx, tools.Named(name), w)
		if apperr.CodeOf(err) == apperr.Forbidden {
			p.Reason = "The agent may not change the request."
			return nil
		}
	}
	p.Writes = []tools.Write{*w}
	p.Given.Writes = p.Writes
	return err
}

// offering returns the change of the request to another offering; none if nothing suggests one, the agent may not move requests,
// or the request's answers do not fit that offering's form.
func (l *Decider) offering(ctx context.Context, c *history.Corpus, h history.Finished) ([]tools.Change, error) {
	if l.Settings.Mode(tools.Move) == settings.Off {
		return nil, nil
	}
	to, ok := history.DecideOffering(c, l.Subject.Request, h)
	if !ok {
		return nil, nil
	}
	fits, err := request.Fits(ctx, l.engine.Outside(principal.Worker(l.Subject.CompanyID, worker.Name)), l.Subject.Request, to.Value)
	if err != nil || !fits {
		return nil, worker.Wrap("check the answers against the offering's form", err)
	}
	return []tools.Change{history.ChangeBy("offeringId", l.Subject.OfferingID, to)}, nil
}

// writeOf returns the write for changes. It has the rationale and the confidence of the least certain change.
func writeOf(tool string, changes []tools.Change) (*tools.Write, error) {
	args, err := arguments(changes)
	if err != nil {
		return nil, err
	}
	least := changes[0]
	for _, c := range changes {
		if c.Confidence < least.Confidence {
			least = c
		}
	}
	return &tools.Write{
		Tool: tool, Arguments: args, Changes: changes, Rationale: least.Rationale, Confidence: least.Confidence, Rows: rowsOf(changes),
	}, nil
}

func (p *Plan) step(kind, operation string, rows []string, result string, at time.Time) {
	p.Steps = append(p.Steps, runs.Step{N: len(p.Steps) + 1, Kind: kind, Operation: operation, Rows: rows, Result: result, At: at.UTC()})
}

// StepOf returns the number of the step that decided on a write.
func (p *Plan) StepOf(w tools.Write) int {
	for _, s := range slices.Backward(p.Steps) {
		if s.Kind == "decide" && s.Operation == w.Tool {
			return s.N
		}
	}
	return len(p.Steps)
}

// rowsOf returns the ids on which changes are based, without repetitions.
func rowsOf(changes []tools.Change) []string {
	out := []string{}
	for _, c := range changes {
		for _, id := range c.Rows {
			if !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// arguments returns the arguments of the operation that sets the changed fields.
func arguments(changes []tools.Change) (json.RawMessage, error) {
	out := map[string]any{}
	for _, c := range changes {
		out[c.Field] = c.To
	}
	raw, err := json.Marshal(out)
	return raw, worker.Wrap("write the arguments", err)
}
