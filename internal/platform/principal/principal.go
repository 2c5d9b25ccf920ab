package principal

import (
	"context"
	"net/netip"
	"time"

	"entgo.io/ent/dialect/sql"
)

// Role is the role of a company's member, spelled as in both APIs.
type Role string

// The roles, weakest first.
const (
	Member Role = "member"
	Agent  Role = "agent"
	Admin  Role = "admin"
	Owner  Role = "owner"
)

// OperatorRole is the role of the command line and of workers. No user can have it.
const OperatorRole Role = "operator"

// Type is the kind of actor behind a call.
type Type string

// The types of principals.
const (
	TypeUser           Type = "user"
	TypeServiceAccount Type = "service_account"
	TypeAgent          Type = "agent"    // the run of an agent, within the agent's rights; see internal/agent
	TypeWebhook        Type = "webhook"  // a webhook subscription. It makes no calls; policies decide which rows it is told of
	TypeOperator       Type = "operator" // the command line on the server's own machine
	TypeSystem         Type = "system"   // the product itself: jobs, migrations, authentication
)

// Method is how the caller authenticated, spelled as in policies.
type Method string

// The ways to authenticate.
const (
	MethodAPIKey  Method = "api_key"
	MethodBearer  Method = "bearer"
	MethodSession Method = "session"
	MethodLocal   Method = "local" // operator and system
)

// OperatorClient is the OAuth client of the bearer tokens that the operator issues on the command line.
const OperatorClient = "operator"

// Principal is the caller of one operation. It is immutable once it is in a context.
type Principal struct {
	CompanyID string // the tenant, to which every query is bound. Empty only for the system principal
	Sandbox   bool   // CompanyID is a sandbox
	Type      Type
	ID        string // usr_… or sa_…; createdBy of the rows that it makes
	Name      string
	Email     string
	Role      Role
	Scopes    Scopes // of the key or token, before the role restricts them
	Method    Method

	KeyID     string // API keys: the actor of audit entries
	KeyName   string
	ClientID  string // bearer tokens: the OAuth client
	SessionID string // sessions: the row

	// AuthenticatedAt is when the person last authenticated, for sessions and bearer tokens; zero where that never happened or
	// is not known. Dangerous operations require that it is recent.
	AuthenticatedAt time.Time

	IP        netip.Addr
	UserAgent string
	RequestID string

	Run Run    // agents: for whom, and in which run
	Via string // the API through which the call came, where audit entries show it: "mcp"

	Cause *Cause // why an agent's work causes this change; nil for all other changes

	bypass string // the reason of a System principal; empty for all others
	rows   Rows   // the rows that access policies let the caller see; nil for every row
}

// Run is what limits an agent's call besides its role and scopes: the run that it belongs to, and the person for whom it reads.
type Run struct {
	ID        string
	Requester *Principal // must also be allowed to read each row that the agent reads; nil for nobody
	TaskID    string     // the run's task, which the agent may read by itself
	NoReads   error      // why it reads nothing but its runs: no run that is worked on says whose rights limit its reads
	Tools     []string   // the mutations that the agent's key may call, by their GraphQL names
}

// Cause is an agent's part in a change, for the audit entry.
type Cause struct {
	RunID      string // of the agent that makes the call or the change, or has proposed it
	Step       int    // for a change that the agent makes itself: the step of the run
	ApprovedBy string // likewise: the person who approved the action
	ActionID   string // likewise
	ProposalID string // for a change that a person makes because an agent proposed it
}

// SignedIn reports whether the caller is a person who calls by themselves: in a session, or by an application that they let in. It is not
// a key of theirs, and not work that goes on in their name.
func (p *Principal) SignedIn() bool {
	return p.Type == TypeUser && (p.SessionID != "" || p.Method == MethodBearer)
}

// WithCause returns a copy of the caller with the cause.
func (p *Principal) WithCause(c Cause) *Principal {
	q := *p
	q.Cause = &c
	return &q
}

// Rows knows which rows of the company the access policies let a caller read.
type Rows interface {
	// Narrow returns the filter for queries of the entity ("Service"), and nil when all its rows are visible.
	Narrow(entity string) func(*sql.Selector)
	// Enter limits the work of a query that Narrow filters: the caller runs the query under the returned context and then calls
	// leave.
	Enter(ctx context.Context, entity string) (within context.Context, leave func(), err error)
}

// Webhook returns the principal of a company's webhook subscription, as access policies see it.
func Webhook(companyID, subscriptionID string) *Principal {
	return &Principal{CompanyID: companyID, Type: TypeWebhook, ID: subscriptionID, Role: Admin, Scopes: AllScopes}
}

// WithRows returns a copy of the caller whose queries rows filters; nil filters nothing.
func (p *Principal) WithRows(rows Rows) *Principal {
	q := *p
	q.rows = rows
	return &q
}

// Narrow returns the filter for the caller's queries of the entity, and nil when all its rows are visible.
func (p *Principal) Narrow(entity string) func(*sql.Selector) {
	if p.rows == nil {
		return nil
	}
	return p.rows.Narrow(entity)
}

// Enter limits the work of a query that Narrow filters: the caller runs it under the returned context and then calls leave.
func (p *Principal) Enter(ctx context.Context, entity string) (within context.Context, leave func(), err error) {
	if p.rows == nil {
		return ctx, func() {}, nil
	}
	return p.rows.Enter(ctx, entity)
}

// Narrowed reports whether a filter hides rows of the entity from the caller.
func (p *Principal) Narrowed(entity string) bool { return p.Narrow(entity) != nil }

// Narrowing returns the filter of the context's caller for the entity; nil without a caller or a filter.
func Narrowing(ctx context.Context, entity string) func(*sql.Selector) {
	p, ok := From(ctx)
	if !ok {
		return nil
	}
	return p.Narrow(entity)
}

// Actor is the caller as audit entries show it: the key for API keys, otherwise the person or account.
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

// Bypass returns the reason for which the principal may cross companies; false when it may not.
func (p *Principal) Bypass() (reason string, ok bool) { return p.bypass, p.bypass != "" }

type key struct{}

// With returns a context that carries p.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, key{}, p)
}

// From returns the context's principal; false when there is none, which every guard treats as a refusal.
func From(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(key{}).(*Principal)
	return p, ok && p != nil
}

// System returns a context in which the tenancy guards do not apply. It is the only bypass. reason says why the caller needs
// it, and a test lists all callers.
func System(ctx context.Context, reason string) context.Context {
	return With(ctx, &Principal{Type: TypeSystem, ID: "system", Name: "system", Method: MethodLocal, bypass: reason})
}

// Operator returns the principal of the command line within one company. It may do everything there and nothing elsewhere.
// name is the command ("key create") and appears in audit entries.
func Operator(companyID, name string) *Principal {
	return &Principal{
		CompanyID: companyID, Type: TypeOperator, ID: "operator", Name: name,
		Role: OperatorRole, Scopes: AllScopes, Method: MethodLocal,
	}
}

// Worker returns the principal of background work within one company: a job, or the product itself on a customer's behalf. The
// tenancy guards and row-level security bind it to the company. Within the company it may do everything: it has the operator's
// role, which scopes, roles and access policies never refuse, because the rights were checked when a caller caused the work.
// Audit entries show it as the system, with the worker's name ("webhook replay").
func Worker(companyID, name string) *Principal {
	return &Principal{
		CompanyID: companyID, Type: TypeSystem, ID: "system", Name: name,
		Role: OperatorRole, Scopes: AllScopes, Method: MethodLocal,
	}
}

// WorkerAs is Worker with an id of its own, which the rows that it makes name as their creator: an inbound webhook.
func WorkerAs(companyID, id, name string) *Principal {
	p := Worker(companyID, name)
	p.ID = id
	return p
}
