package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// Step is one step of a run.
type Step struct {
	N         int             `json:"n"`
	Kind      string          `json:"kind"`      // read, decide or act
	Operation string          `json:"operation"` // the operation's GraphQL name
	Rows      []string        `json:"rows"`      // ids of the rows that it looked at, at most 50
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result"` // plain text for people
	At        time.Time       `json:"at"`
}

// Change is one field that a write sets.
type Change struct {
	Field      string   `json:"field"`
	From       any      `json:"from"`
	To         any      `json:"to"`
	Rationale  string   `json:"rationale"`
	Confidence float64  `json:"confidence"`
	Rows       []string `json:"rows"`
}

// plan is the decision of an engine about a request.
type plan struct {
	version string // of the request that the plan depends on
	given   engineInput
	steps   []Step
	writes  []write
	reason  string // why there are no writes, for people
	self    *principal.Principal
	used    usage
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

// decisionContext is a request that an engine decides about, and the rights with which it does so.
type decisionContext struct {
	engine    *op.Engine
	agent     *ent.Agent
	settings  settings
	subject   subject
	self      *principal.Principal // nil if the agent's owner was deactivated
	read      context.Context      // of the reader: the agent, and the requester as well unless the agent sees by itself
	requester *principal.Principal // the requester; nil if the agent sees by itself
	earlier   earlier
}

// earlier is what a run did in its earlier plans: a plan goes on with its steps, and its budgets are those of the run.
type earlier struct {
	steps []Step
	used  usage
}

// newDecisionContext determines the principals as which an engine reads and acts.
func newDecisionContext(ctx context.Context, e *op.Engine, c *selectedAgent, s subject) (*decisionContext, error) {
	l := &decisionContext{engine: e, agent: c.agent, settings: c.settings, subject: s, read: ctx}
	db := e.Store.Reader()
	var err error
	if l.self, err = principalOf(ctx, db, c.agent, c.settings); err != nil || l.self == nil {
		return l, err
	}
	reader := *l.self
	if c.settings.Sees == string(agent.SeesRequester) {
		if l.requester, err = requesterOf(ctx, db, s.Request); err != nil {
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
	return err == nil, wrap("ask what the agent may read", err)
}

// history returns the finished requests that the reader may read; none if the reader may read no requests.
func (l *decisionContext) history() (history, error) {
	h, _, err := op.Run(l.read, l.engine, readHistory, historyInput{Not: l.subject.not, Only: l.subject.only}, nil)
	if apperr.CodeOf(err) == apperr.Forbidden {
		return history{}, nil
	}
	return h, wrap("read the history", err)
}

// makePlan lets the engine history decide, from what the agent, and the requester unless the agent sees by itself, may read. It
// writes nothing.
func makePlan(ctx context.Context, l *decisionContext, now func() time.Time) (*plan, error) {
	p := &plan{self: l.self, steps: slices.Clone(l.earlier.steps), used: l.earlier.used}
	var err error
	if p.version, err = requestVersion(l.subject.Request); err != nil {
		return nil, err
	}
	switch {
	case l.self == nil:
		p.reason = nobodyAnswers
		return p, nil
	case l.settings.mode(toolUpdate) == modeOff && l.settings.mode(toolMove) == modeOff:
		p.reason = "The agent may not use updateRequest or moveRequest."
		return p, nil
	}
	h, err := l.history()
	if err != nil {
		return nil, err
	}
	if p.given, err = givenOf(l.subject.Request, h); err != nil {
		return nil, err
	}
	return p, p.fromHistory(ctx, l, h, now())
}

// givenOf returns the input of the engine history.
func givenOf(r *ent.Request, h history) (engineInput, error) {
	raw, err := json.Marshal(r)
	g := engineInput{Request: raw, History: make([]string, 0, len(h.requests))}
	for _, row := range h.requests {
		g.History = append(g.History, row.ID)
	}
	return g, wrap("write the request", err)
}

// fromHistory sets the steps and writes of the plan from the history.
func (p *plan) fromHistory(ctx context.Context, l *decisionContext, h history, at time.Time) error {
	p.step("read", "requests", p.given.History[:min(shownRows, len(p.given.History))], fmt.Sprintf("Looked at %d finished requests.", len(h.requests)), at)
	name := toolUpdate
	c := learn(h.requests)
	changes, err := l.offering(ctx, c, h)
	if err != nil {
		return err
	}
	if len(changes) > 0 {
		name = toolMove // alone, because the rest follows from the offering
	} else if l.settings.mode(toolUpdate) != modeOff {
		changes = decide(c, l.subject.Request, h)
	}
	p.step("decide", name, rowsOf(changes), fmt.Sprintf("Decided on %d changes.", len(changes)), at)
	decided := &p.steps[len(p.steps)-1]
	if len(changes) == 0 {
		p.reason = "No finished request is like this one enough to propose anything."
		return nil
	}
	w, err := writeOf(name, changes)
	if err != nil {
		return err
	}
	decided.Arguments = w.Arguments
	if l.settings.Autonomy != string(agent.AutonomySUGGEST) { // a proposal is applied with a person's rights
		err = l.mayWrite(ctx, toolNamed(name), w)
		if apperr.CodeOf(err) == apperr.Forbidden {
			p.reason = "The agent may not change the request."
			return nil
		}
	}
	p.writes = []write{*w}
	p.given.Writes = p.writes
	return err
}

// offering returns the change of the request to another offering; none if nothing suggests one, the agent may not move requests,
// or the request's answers do not fit that offering's form.
func (l *decisionContext) offering(ctx context.Context, c *corpus, h history) ([]Change, error) {
	if l.settings.mode(toolMove) == modeOff {
		return nil, nil
	}
	to, ok := decideOffering(c, l.subject.Request, h)
	if !ok {
		return nil, nil
	}
	fits, err := request.Fits(ctx, l.engine.Outside(principal.Worker(l.subject.CompanyID, workerName)), l.subject.Request, to.value)
	if err != nil || !fits {
		return nil, wrap("check the answers against the offering's form", err)
	}
	return []Change{changeBy("offeringId", l.subject.OfferingID, to)}, nil
}

// writeOf returns the write for changes. It has the rationale and the confidence of the least certain change.
func writeOf(tool string, changes []Change) (*write, error) {
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
	return &write{
		Tool: tool, Arguments: args, Changes: changes, Rationale: least.Rationale, Confidence: least.Confidence, Rows: rowsOf(changes),
	}, nil
}

// mayWrite checks the agent's rights to a write, and records whether the write needs an approval at any autonomy level. For an
// opinion only a policy requires one. Call it outside of transactions. Returns forbidden for a write that the agent may not do.
func (l *decisionContext) mayWrite(ctx context.Context, t *tool, w *write) error {
	args := w.Arguments
	if l.subject.asked {
		said, err := saidIn(args)
		if err != nil {
			return err
		}
		if args, err = opinionOf(l.self, said); err != nil {
			return err
		}
	}
	policy, err := t.mayUse(ctx, l.engine.Outside(principal.Worker(l.subject.CompanyID, workerName)), l.self, l.subject, args)
	if err != nil {
		return err
	}
	always := l.settings.mode(t.name) == modeApprove || t.name == toolDecline || t.name == toolMove
	w.Waits = policy != "" || always && !l.subject.asked
	return nil
}

func (p *plan) step(kind, operation string, rows []string, result string, at time.Time) {
	p.steps = append(p.steps, Step{N: len(p.steps) + 1, Kind: kind, Operation: operation, Rows: rows, Result: result, At: at.UTC()})
}

// stepOf returns the number of the step that decided on a write.
func (p *plan) stepOf(w write) int {
	for _, s := range slices.Backward(p.steps) {
		if s.Kind == "decide" && s.Operation == w.Tool {
			return s.N
		}
	}
	return len(p.steps)
}

// decide returns the changes that the finished requests suggest for a new one. It keeps a team, an assignee and tags that the
// request already has.
func decide(c *corpus, r *ent.Request, h history) []Change {
	words := wordsOf(r)
	near := c.nearest(words)
	var out []Change
	add := func(field string, from any, g guess) { out = append(out, changeBy(field, from, g)) }
	there := func(id *string) string {
		if id == nil || !h.present[*id] {
			return ""
		}
		return *id
	}
	if r.TeamID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.TeamID) }); ok {
			add("teamId", nil, g)
		}
	}
	if r.AssigneeID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.AssigneeID) }); ok {
			add("assigneeId", nil, g)
		}
	}
	if g, ok := c.guess(words, near, func(r *ent.Request) string { return string(r.Priority) }); ok && g.value != string(r.Priority) {
		add("priority", string(r.Priority), g)
	}
	if tags, g := c.tags(r, words, near); len(tags) > 0 {
		from := map[string]string{}
		for k, v := range r.Tags {
			from[k], tags[k] = v, v
		}
		change := changeBy("tags", from, g)
		change.To = tags
		out = append(out, change)
	}
	return out
}

// decideOffering returns the offering that the finished requests suggest for a new one by its text alone; false for none, and for
// the one that it has. The nearest request must share two words with it: where all finished requests are of one offering, a single
// common word would make that certain.
func decideOffering(c *corpus, r *ent.Request, h history) (guess, bool) {
	words := writtenWords(r)
	near := c.nearest(words)
	if len(near) == 0 || shared(words, near[0].counts) < 2 {
		return guess{}, false
	}
	g, ok := c.guess(words, near, func(r *ent.Request) string {
		if !h.present[r.OfferingID] {
			return ""
		}
		return r.OfferingID
	})
	return g, ok && g.confidence >= sure && g.value != r.OfferingID
}

// shared returns how many words two requests have in common.
func shared(a, b map[string]float64) (n int) {
	for w := range a {
		if b[w] > 0 {
			n++
		}
	}
	return n
}

// changeBy returns the change of a field to a guessed value.
func changeBy(field string, from any, to guess) Change {
	return Change{
		Field: field, From: from, To: to.value, Rationale: "because " + strings.Join(to.because, ", "), Confidence: to.confidence, Rows: to.because,
	}
}

// tags returns the tags that similar requests have and the request lacks, with the least certain guess.
func (c *corpus) tags(r *ent.Request, words map[string]float64, near []near) (map[string]string, guess) {
	known := map[string]bool{}
	for _, n := range near[:min(neighbours, len(near))] {
		for k := range n.row.Tags {
			if _, has := r.Tags[k]; !has {
				known[k] = true
			}
		}
	}
	out, least := map[string]string{}, guess{confidence: 1}
	for _, k := range slices.Sorted(maps.Keys(known)) {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return r.Tags[k] }); ok {
			out[k] = g.value
			if g.confidence <= least.confidence {
				least = g
			}
		}
	}
	return out, least
}

// rowsOf returns the ids on which changes are based, without repetitions.
func rowsOf(changes []Change) []string {
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
func arguments(changes []Change) (json.RawMessage, error) {
	out := map[string]any{}
	for _, c := range changes {
		out[c.Field] = c.To
	}
	raw, err := json.Marshal(out)
	return raw, wrap("write the arguments", err)
}

// digestOf returns the digest that a person approves: of the operation, its row and arguments, and the row's version.
func digestOf(operation, requestID string, arguments json.RawMessage, version string) string {
	sum := sha256.Sum256([]byte(operation + "\n" + requestID + "\n" + string(arguments) + "\n" + version))
	return hex.EncodeToString(sum[:])
}
