package op

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/internal/apperr"
	"atrium/internal/principal"
)

// What calls with an agent's key is bound twice. It reads what the agent may read and, where it sees as a requester does, what that
// one may read, too: two row filters in each statement. And nothing that it writes is done by its call: Agents holds it, as a
// proposal or until a person has approved it, and only then an operation's function runs (RunIn), as the agent or as that person.

// Agents keeps what agents' keys would write.
type Agents interface {
	// Hold keeps a write, and returns the door's answer: 202 with the action that it has become.
	Hold(ctx context.Context, e *Engine, h Held) (*Answer, error)
}

// Held is a write that an agent's key asks for. Its input has been held against its rules, the key's scopes have it.
type Held struct {
	Info      *Info
	Verbs     []string
	Target    string          // the id that the caller named
	Arguments json.RawMessage // the input without it, by its fields
	Call      *Call           // of the door; nil for none
}

// byKey reports whether an agent's key makes the call, other than for its runs themselves.
func byKey(p *principal.Principal, info *Info) bool {
	itsOwn := info.OfAgents || info.Resource == "AgentRun" && info.Action == Read
	return p.Type == principal.TypeAgent && p.Method == principal.MethodAPIKey && !itsOwn
}

// hold has a write kept in place of running it.
func (a *attempt) hold(ctx context.Context, in any) (*Answer, error) {
	if a.engine.Agents == nil {
		return nil, apperr.New(apperr.Forbidden, "Agents change nothing here.")
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	ctx = principal.With(ctx, a.principal)
	return a.engine.Agents.Hold(ctx, a.engine, Held{Info: a.info, Verbs: a.verbs, Target: a.target, Arguments: raw, Call: a.call})
}

// readers returns as whom an agent's key reads, and who must be able to read it besides; nobody else (nil) for all other callers.
// The first has the requester's identity and the weaker of both roles, so that what a role reaches is the requester's own.
func readers(p *principal.Principal, info *Info, target string) (as, also *principal.Principal, err error) {
	if info.Action != Read || !byKey(p, info) {
		return p, nil, nil
	}
	if p.Unnamed {
		return nil, nil, apperr.New(apperr.Forbidden, "The agent reads what its requester may read: name the run in the header Agent-Run.")
	}
	if p.Eyes == nil || p.TaskID != "" && info.Name == "task.read" && target == p.TaskID {
		return p, nil, nil
	}
	who := *p.Eyes
	who.Scopes &= p.Scopes
	who.Method, who.KeyID, who.KeyName, who.IP, who.UserAgent, who.RequestID, who.Via = p.Method, p.KeyID, p.KeyName, p.IP, p.UserAgent, p.RequestID, p.Via
	if p.Role == principal.Member || who.Role == principal.Member {
		who.Role = principal.Member
	} else {
		who.Role = p.Role // what an agent may have is never more than what staff has
	}
	return &who, p, nil
}

// bothRows are the rows that two may read.
type bothRows struct{ one, other principal.Rows }

// both returns the rows that are in each; nil for all.
func both(one, other principal.Rows) principal.Rows {
	switch {
	case one == nil:
		return other
	case other == nil:
		return one
	}
	return bothRows{one, other}
}

// Narrow puts both filters into a statement.
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

// Knows spares no evaluation: what was decided was so for one of them.
func (bothRows) Knows(string, string, bool) {}

// Enter bounds nothing: see bounded.
func (bothRows) Enter(ctx context.Context, _ string) (within context.Context, leave func(), err error) {
	return ctx, func() {}, nil
}

// alsoReads refuses a row that the second reader of a call may not read.
func (a *attempt) alsoReads(ctx context.Context, q authz.Question, row authz.Row) (authz.Decision, error) {
	who, err := a.engine.Caller(ctx, a.set, a.also)
	if err != nil {
		return authz.Decision{}, undecided(err)
	}
	return a.engine.Authz.DecideRow(ctx, a.set, who, q, row)
}

// ofAgents decides about what agents do with their own runs, which no role grants: a person has none.
func ofAgents(p *principal.Principal, info *Info) authz.Decision {
	switch {
	case info.Scope != "" && !p.Scopes.Has(principal.MustScope(info.Scope)):
		return authz.Decision{By: authz.By{Kind: "scope", ID: info.Scope}, Rows: authz.RowsNone}
	case p.Type != principal.TypeAgent:
		return authz.Decision{By: authz.By{Kind: "role", ID: string(p.Role)}, Rows: authz.RowsNone}
	}
	return authz.Decision{Allow: true, By: authz.By{Kind: "role", ID: string(p.Role)}, Rows: authz.RowsAll}
}
