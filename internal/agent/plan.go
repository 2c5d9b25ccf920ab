package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/agent/interrupt"
	"atrium/internal/op"
	"atrium/internal/principal"
	"atrium/internal/request"
)

// Step is one thing that a run did.
type Step struct {
	N         int             `json:"n"`
	Kind      string          `json:"kind"`      // read, decide or act
	Operation string          `json:"operation"` // as GraphQL names it
	Rows      []string        `json:"rows"`      // ids of the rows that it looked at, 50 at most
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    string          `json:"result"` // for people
	At        time.Time       `json:"at"`
}

// Change is one field that a plan sets.
type Change struct {
	Field      string   `json:"field"`
	From       any      `json:"from"`
	To         any      `json:"to"`
	Rationale  string   `json:"rationale"`
	Confidence float64  `json:"confidence"`
	Rows       []string `json:"rows"`
}

// plan is what an engine made of a request.
type plan struct {
	version string // of the request that it rests on
	steps   []Step
	changes []Change
	reason  string // why there are no changes, for people
	self    *principal.Principal
	waits   bool // a person approves the changes: the tool's mode or an access policy says so
}

// shownRows bounds the ids that a step names.
const shownRows = 50

// makePlan reads what the agent and, unless it sees by itself, the requester may read, and decides. It writes nothing.
func makePlan(ctx context.Context, e *op.Engine, c *chosen, r *ent.Request, now func() time.Time) (*plan, error) {
	p := &plan{}
	var err error
	if p.version, err = interrupt.Version(r); err != nil {
		return nil, err
	}
	db := e.Store.Reader()
	self, err := principalOf(ctx, db, c.agent, c.settings)
	if err != nil {
		return nil, err
	}
	if self == nil {
		p.reason = "Nobody answers for the agent: its owner was deactivated."
		return p, nil
	}
	if c.settings.mode(toolUpdate) == modeOff {
		p.reason = "The agent may not use updateRequest."
		return p, nil
	}
	p.self = self
	reader, in := self, historyInput{}
	if c.settings.Sees == "requester" {
		if reader, err = requesterOf(ctx, db, r); err != nil {
			return nil, err
		}
		in.Also = self
	}
	h, _, err := op.Run(principal.With(ctx, reader), e, readHistory, in, nil)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	ids := make([]string, 0, shownRows)
	for _, row := range h.requests[:min(shownRows, len(h.requests))] {
		ids = append(ids, row.ID)
	}
	p.step("read", "requests", ids, fmt.Sprintf("Looked at %d finished requests.", len(h.requests)), now())
	p.changes = decide(r, h)
	if len(p.changes) == 0 {
		p.reason = "No finished request is like this one enough to propose anything."
	}
	p.step("decide", toolUpdate, rowsOf(p.changes), fmt.Sprintf("Decided on %d changes.", len(p.changes)), now())
	if len(p.changes) > 0 && c.settings.Autonomy == string(agent.AutonomyAUTONOMOUS) {
		return p, p.gate(ctx, e, c.settings, r)
	}
	return p, nil
}

// gate asks before the transaction what may keep an AUTONOMOUS agent from its changes: its rights, its tool's mode and the
// company's policies.
func (p *plan) gate(ctx context.Context, e *op.Engine, s settings, r *ent.Request) error {
	worker := principal.Worker(r.CompanyID, workerName)
	may, err := e.Outside(worker).MayDo(ctx, p.self, request.Update.Info(), r)
	if err != nil {
		return fmt.Errorf("ask for the agent's rights: %w", err)
	}
	if !may {
		p.changes, p.reason = nil, "The agent may not change the request."
		return nil
	}
	args, err := arguments(p.changes)
	if err != nil {
		return err
	}
	policy, err := e.Outside(worker).ApprovalFor(ctx, p.self, request.Update.Info(), r, args)
	if err != nil {
		return fmt.Errorf("ask the policies: %w", err)
	}
	p.waits = policy != "" || s.mode(toolUpdate) == modeApprove
	return nil
}

func (p *plan) step(kind, operation string, rows []string, result string, at time.Time) {
	p.steps = append(p.steps, Step{N: len(p.steps) + 1, Kind: kind, Operation: operation, Rows: rows, Result: result, At: at.UTC()})
}

// decide returns what the finished requests say about a new one. A team or an assignee that it has already stays, and so do its
// tags.
func decide(r *ent.Request, h history) []Change {
	c := learn(h.requests)
	words := wordsOf(r)
	near := c.nearest(words)
	var out []Change
	add := func(field string, from, to any, g guess) {
		out = append(out, Change{
			Field: field, From: from, To: to, Rationale: "because " + strings.Join(g.because, ", "), Confidence: g.confidence, Rows: g.because,
		})
	}
	there := func(id *string) string {
		if id == nil || !h.present[*id] {
			return ""
		}
		return *id
	}
	if r.TeamID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.TeamID) }); ok {
			add("teamId", nil, g.value, g)
		}
	}
	if r.AssigneeID == nil {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return there(r.AssigneeID) }); ok {
			add("assigneeId", nil, g.value, g)
		}
	}
	if g, ok := c.guess(words, near, func(r *ent.Request) string { return string(r.Priority) }); ok && g.value != string(r.Priority) {
		add("priority", string(r.Priority), g.value, g)
	}
	if tags, g := c.tags(r, words, near); len(tags) > 0 {
		from := map[string]string{}
		for k, v := range r.Tags {
			from[k], tags[k] = v, v
		}
		add("tags", from, tags, g)
	}
	return out
}

// tags returns those that the request lacks and requests like it have; the guess is the least certain of them.
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
	for _, k := range sorted(known) {
		if g, ok := c.guess(words, near, func(r *ent.Request) string { return r.Tags[k] }); ok {
			out[k] = g.value
			if g.confidence <= least.confidence {
				least = g
			}
		}
	}
	return out, least
}

// rowsOf returns the ids that changes rest on, each once.
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

// arguments returns the operation's, by its fields.
func arguments(changes []Change) (json.RawMessage, error) {
	out := map[string]any{}
	for _, c := range changes {
		out[c.Field] = c.To
	}
	raw, err := json.Marshal(out)
	return raw, wrap("write the arguments", err)
}

// digestOf returns what a person approves: the operation, its arguments and the request as it was looked at.
func digestOf(operation, requestID string, arguments json.RawMessage, version string) string {
	sum := sha256.Sum256([]byte(operation + "\n" + requestID + "\n" + string(arguments) + "\n" + version))
	return hex.EncodeToString(sum[:])
}
