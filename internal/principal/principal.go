package principal

import (
	"context"
	"net/netip"
	"time"

	"entgo.io/ent/dialect/sql"
)

// Role is what a member of a company is, spelled as at both doors.
type Role string

// The roles, weakest first.
const (
	Member Role = "member"
	Agent  Role = "agent"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// OperatorRole is what the command line acts as; no user can have it.
const OperatorRole Role = "operator"

// Type is the kind of actor that stands behind a call.
type Type string

// The types of principals.
const (
	TypeUser           Type = "user"
	TypeServiceAccount Type = "service_account"
	TypeAgent          Type = "agent"    // an agent's run, within its own rights; see internal/agent
	TypeWebhook        Type = "webhook"  // a webhook subscription, which calls nothing: policies say what it is told of
	TypeOperator       Type = "operator" // the command line on the server's own machine
	TypeSystem         Type = "system"   // the product itself: jobs, migrations, authentication
)

// Method is how the caller proved who it is, spelled as policies see it.
type Method string

// The ways to authenticate.
const (
	MethodAPIKey  Method = "api_key"
	MethodBearer  Method = "bearer"
	MethodSession Method = "session"
	MethodLocal   Method = "local" // operator and system
)

// OperatorClient is the client of the bearer tokens that the operator takes on the command line.
const OperatorClient = "operator"

// Principal is the caller of one operation. It is immutable once it is in a context.
type Principal struct {
	CompanyID string // the tenant: every query is bound to it. Empty only for the system principal
	Sandbox   bool   // CompanyID is a sandbox
	Type      Type
	ID        string // usr_… or sa_… behind the call; createdBy of what it makes
	Name      string
	Email     string
	Role      Role
	Scopes    Scopes // of the key or token, not yet cut by the role
	Method    Method

	KeyID     string // API keys: the actor of audit entries
	KeyName   string
	ClientID  string // bearer tokens: the OAuth client
	SessionID string // sessions: the row

	// AuthenticatedAt is when the person last proved who it is, for sessions and bearer tokens; zero where nobody did or
	// nobody knows. Dangerous operations ask for a recent proof.
	AuthenticatedAt time.Time

	IP        netip.Addr
	UserAgent string
	RequestID string

	RunID   string     // an agent's key: the run that the call is part of
	TaskID  string     // an agent's key: the task that the run is about, which it reads by itself
	Unnamed bool       // an agent's key: it reads as its requester does, and the call names no run that would say who that is
	Eyes    *Principal // an agent's run: who besides the agent must be able to read what it reads; nil for nobody
	Tools   []string   // an agent's key: what it may change, as GraphQL names it
	Via     string     // the door, where audit entries tell it: "mcp"

	Cause *Cause // why an agent's work brings this change about; nil for everything else

	bypass string // the reason of a System principal
	rows   Rows   // what the company's policies let the caller see; nil for every row
}

// Cause is the part of an agent in a change, for its audit entry.
type Cause struct {
	RunID      string // of what an agent does itself
	Step       int    // likewise: the step of the run
	ApprovedBy string // likewise: who approved the action
	ActionID   string // likewise
	ProposalID string // of what a person does because an agent proposed it
}

// Because returns a copy of the caller that acts for that reason.
func (p *Principal) Because(c Cause) *Principal {
	q := *p
	q.Cause = &c
	return &q
}

// Rows says which rows of the company its access policies let a caller read.
type Rows interface {
	// Narrow returns what a query of the entity ("Service") is narrowed by, and nil when all its rows are visible.
	Narrow(entity string) func(*sql.Selector)
	// Knows lets queries return this row, or leave it out, without evaluating the filter, because a decision has been made
	// about it. Who changes the row must decide again on what was read.
	Knows(entity, id string, visible bool)
	// Enter bounds a query of the entity that Narrow narrows: the query runs under the context, and leave is called after it.
	Enter(ctx context.Context, entity string) (within context.Context, leave func(), err error)
}

// Webhook returns what a subscription of a company is to its access policies.
func Webhook(companyID, subscriptionID string) *Principal {
	return &Principal{CompanyID: companyID, Type: TypeWebhook, ID: subscriptionID, Role: Admin, Scopes: AllScopes}
}

// WithRows returns a copy of the caller whose queries are narrowed by rows; nil narrows nothing.
func (p *Principal) WithRows(rows Rows) *Principal {
	q := *p
	q.rows = rows
	return &q
}

// Narrow returns what the caller's queries of the entity are narrowed by, and nil when all its rows are visible.
func (p *Principal) Narrow(entity string) func(*sql.Selector) {
	if p.rows == nil {
		return nil
	}
	return p.rows.Narrow(entity)
}

// Enter bounds a query of the entity that Narrow narrows: it runs under the context, and leave is called after it.
func (p *Principal) Enter(ctx context.Context, entity string) (within context.Context, leave func(), err error) {
	if p.rows == nil {
		return ctx, func() {}, nil
	}
	return p.rows.Enter(ctx, entity)
}

// Narrowed reports whether the caller sees other than all rows of the entity.
func (p *Principal) Narrowed(entity string) bool { return p.Narrow(entity) != nil }

// Narrowing is Narrow of the context's caller.
func Narrowing(ctx context.Context, entity string) func(*sql.Selector) {
	p, ok := From(ctx)
	if !ok {
		return nil
	}
	return p.Narrow(entity)
}

// Actor is how an audit entry names the caller: the key for API keys, else the person or account.
type Actor struct {
	Type string
	ID   string
	Name string
}

// Actor returns the identity that audit entries record.
func (p *Principal) Actor() Actor {
	if p.KeyID != "" {
		return Actor{Type: "api_key", ID: p.KeyID, Name: p.KeyName}
	}
	return Actor{Type: string(p.Type), ID: p.ID, Name: p.Name}
}

// Bypass reports whether the principal may cross companies, and why it was given that right.
func (p *Principal) Bypass() (reason string, ok bool) { return p.bypass, p.bypass != "" }

type key struct{}

// With returns a context that carries p.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// From returns the context's principal; false when nobody is calling, which every guard treats as a refusal.
func From(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(key{}).(*Principal)
	return p, ok && p != nil
}

// System returns a context in which the tenancy guards stand aside. It is the only way around them; reason says
// why this caller needs it, and a test counts the callers.
func System(ctx context.Context, reason string) context.Context {
	return With(ctx, &Principal{Type: TypeSystem, ID: "system", Name: "system", Method: MethodLocal, bypass: reason})
}

// Operator returns the principal of the command line within one company: it may do everything there and nothing
// elsewhere. name is the command ("key create"), as audit entries show it.
func Operator(companyID, name string) *Principal {
	return &Principal{
		CompanyID: companyID, Type: TypeOperator, ID: "operator", Name: name,
		Role: OperatorRole, Scopes: AllScopes, Method: MethodLocal,
	}
}

// Worker returns the principal of work in the background within one company: a job, or the product itself on a customer's
// behalf. The guards of tenancy and row-level security bind it to the company. There it may do everything, as the operator
// may (it has the operator's role, so scopes, roles and access policies refuse it nothing): what a worker does was allowed
// to whoever caused it. Audit entries name it as the system, with the worker's name ("webhook replay").
func Worker(companyID, name string) *Principal {
	return &Principal{
		CompanyID: companyID, Type: TypeSystem, ID: "system", Name: name,
		Role: OperatorRole, Scopes: AllScopes, Method: MethodLocal,
	}
}

// WorkerAs is Worker for what has an id of its own, which what it makes names as its maker: an inbound webhook.
func WorkerAs(companyID, id, name string) *Principal {
	p := Worker(companyID, name)
	p.ID = id
	return p
}
