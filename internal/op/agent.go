package op

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// An agent's call, with its key or by the platform on its behalf, is limited twice. It reads only rows that the agent may read and,
// where the agent reads on behalf of a requester, that the requester may read too: two row filters apply to each statement. And it
// never writes by itself: Agents stores the write as a proposal, or until a person has approved it. Only then does the operation's
// function run (RunIn), as the agent or as that person.

// Agents is what package agent does within other packages' calls and transactions. It stands above them and they call it by this
// interface; jobs and events are the other two ways in which it hears of them.
type Agents interface {
	// Hold stores a write and returns the door's answer: 202 with the action that the write has become.
	Hold(ctx context.Context, e *Engine, h Held) (*Answer, error)
	// RequestChanged is told of a change of a request, in the transaction of the change, which holds the lock of the request.
	RequestChanged(ctx context.Context, tx *Tx, before, after *ent.Request) error
	// OwnerLeft is told that a person leaves the company, in the transaction in which the person leaves.
	OwnerLeft(ctx context.Context, tx *Tx, userID string) error
	// PersonErased is told of an erasure when there is nothing left to read of the person. Work that had read before stores nothing of that
	// once this transaction has committed.
	PersonErased(ctx context.Context, tx *Tx) error
	// PrincipalOf returns the principal as which an agent calls outside of runs, by its published version, and what keeps it from
	// calling ("unpublished", "deactivated"); "" for nothing.
	PrincipalOf(ctx context.Context, db *ent.Client, a *ent.Agent) (*principal.Principal, string, error)
}

// noAgents is the Agents of an engine without any.
type noAgents struct{}

func (noAgents) Hold(context.Context, *Engine, Held) (*Answer, error) {
	return nil, apperr.New(apperr.Forbidden, "Agents change nothing here.")
}
func (noAgents) RequestChanged(context.Context, *Tx, *ent.Request, *ent.Request) error { return nil }
func (noAgents) OwnerLeft(context.Context, *Tx, string) error                          { return nil }
func (noAgents) PersonErased(context.Context, *Tx) error                               { return nil }
func (noAgents) PrincipalOf(context.Context, *ent.Client, *ent.Agent) (*principal.Principal, string, error) {
	return nil, "unpublished", nil
}

// agents returns the engine's Agents, never nil.
func (e *Engine) agents() Agents {
	if e.Agents == nil {
		return noAgents{}
	}
	return e.Agents
}

// Held is a write that an agent's key asks for. Its input has been validated, and the key has the scopes for it.
type Held struct {
	Info      *Info
	Verbs     []string
	Target    string          // the id that the caller named
	Arguments json.RawMessage // the rest of the input, by its fields
	Call      *Call           // the door's call; nil for none
}

// byAgent reports whether an agent makes the call, and not about its own runs.
func byAgent(p *principal.Principal, info *Info) bool {
	return p.Type == principal.TypeAgent && !aboutRuns(p, info)
}

// aboutRuns reports whether an operation is about the agent's own runs, whatever the agent's role.
func aboutRuns(p *principal.Principal, info *Info) bool {
	return info.OfAgents || p.Type == principal.TypeAgent && info.Resource == "AgentRun" && info.Action == Read
}

// hold has the write stored instead of run.
func (a *attempt) hold(ctx context.Context, in any) (*Answer, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	ctx = principal.With(ctx, a.principal)
	return a.engine.agents().Hold(ctx, a.engine, Held{Info: a.info, Verbs: a.verbs, Target: a.target, Arguments: raw, Call: a.call})
}

// readers returns the principal as which a call reads, and a second principal that must be able to read the same rows; the second
// is nil unless an agent reads on behalf of a requester. The first then has the requester's identity and the weaker of both
// roles, so that a role that reaches only its own rows reaches the requester's.
func readers(p *principal.Principal, info *Info, target string) (as, also *principal.Principal, err error) {
	if info.Action != Read || !byAgent(p, info) {
		return p, nil, nil
	}
	if p.Run.NoReads != nil {
		return nil, nil, p.Run.NoReads
	}
	if p.Run.Requester == nil || p.Run.TaskID != "" && info.Name == "task.read" && target == p.Run.TaskID {
		return p, nil, nil
	}
	who := *p.Run.Requester
	who.Scopes &= p.Scopes
	who.Method, who.KeyID, who.KeyName, who.IP, who.UserAgent, who.RequestID, who.Via = p.Method, p.KeyID, p.KeyName, p.IP, p.UserAgent, p.RequestID, p.Via
	if p.Role == principal.Member || who.Role == principal.Member {
		who.Role = principal.Member
	} else {
		who.Role = p.Role // an agent never has more than staff has
	}
	return &who, p, nil
}

// bothRows narrows queries to the rows that two principals may both read.
type bothRows struct{ one, other principal.Rows }

// both returns the intersection of two row filters; nil means all rows.
func both(one, other principal.Rows) principal.Rows {
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	}
	return bothRows{one, other}
}

// Narrow applies both filters to a statement.
func (b bothRows) Narrow(entity string) func(*sql.Selector) {
	one, other := b.one.Narrow(entity), b.other.Narrow(entity)
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	}
	return func(s *sql.Selector) {
		one(s)
		other(s)
	}
}

// Enter sets no bound; bounded does.
func (bothRows) Enter(ctx context.Context, _ string) (within context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

// ofAgents decides about operations of agents on their own runs. No role grants these, because a person has no such runs.
func ofAgents(p *principal.Principal, info *Info) authz.Decision {
	switch {
	case info.Scope != "" && !p.Scopes.Has(principal.ScopeOf(info.Scope)):
		return authz.Decision{By: authz.By{Kind: "scope", ID: info.Scope}, Rows: authz.RowsNone}
	case p.Type != principal.TypeAgent:
		return authz.Decision{By: authz.By{Kind: "role", ID: string(p.Role)}, Rows: authz.RowsNone}
	}
	return authz.Decision{Allow: true, By: authz.By{Kind: "role", ID: string(p.Role)}, Rows: authz.RowsAll}
}
