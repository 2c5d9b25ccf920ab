package op

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/op/audit"
	"atrium/internal/op/events"
	"atrium/internal/op/input"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// Tx is what an operation's function works with: the database, bound to the caller's company, and the caller.
type Tx struct {
	*ent.Client
	*attempt
	db *store.Tx // nil for reads

	unaudited bool // Unaudited was called

	action  string // the audit entry's action, when the function names it
	subject string // the id of the audit entry's row, when the function names it
	before  any
	after   any
	extra   map[string]audit.Change

	inner refusal // the refusal of an operation that RunIn ran in the transaction
	outer *Tx     // the same transaction under the principal that ActingAs replaced; nil for none
}

// attempt is one call of one operation.
type attempt struct {
	engine    *Engine
	principal *principal.Principal
	also      *principal.Principal // a second principal that must be able to read the rows: the agent that reads for a requester; nil for none
	info      *Info
	verbs     []string
	target    string // the id that the caller named; empty for creates and lists
	decision  authz.Decision
	call      *Call

	preparation any    // the preparation's result
	called      bool   // a preparation that calls other servers has run
	callErr     error  // its error
	reserved    string // id of the row that reserves the call's idempotency key while they are called; empty for none
	madeSlug    string // the slug that SlugOf made from a name

	set       *authz.Set           // the company's access policies; nil outside of a company
	caller    *authz.Caller        // the caller as the policies see it; nil until looked up
	rows      principal.Rows       // the filter that they put on the caller's reads; nil for no filter
	narrowed  *principal.Principal // the caller with that filter on its queries; nil for no filter
	row       authz.Row            // the row that the policies were last asked about
	asked     Action               // the action that they were last asked about
	writing   bool                 // the attempt is inside a write transaction
	late      atomic.Bool          // a statement that policies narrow has exceeded its deadline
	allowedBy authz.By
}

// Principal returns the caller.
func (tx *Tx) Principal() *principal.Principal { return tx.principal }

// Sealer returns the encryption for secrets.
func (tx *Tx) Sealer() Sealer { return tx.engine.Sealer }

// Agents returns what hears of changes for the agents. It does nothing on an engine without agents.
func (tx *Tx) Agents() Agents { return tx.engine.agents() }

// MailDomain returns the domain of the addresses at which mail is taken; empty where none is.
func (tx *Tx) MailDomain() string { return tx.engine.MailDomain }

// BaseURL returns what addresses in answers begin with, without a slash at its end.
func (tx *Tx) BaseURL() string { return tx.engine.BaseURL }

// NoAgents reports whether the operator has switched agents off on this node.
func (tx *Tx) NoAgents() bool { return tx.engine.NoAgents }

// Now returns the product's time.
func (tx *Tx) Now(ctx context.Context) time.Time { return clock.From(ctx).Now() }

// OwnOnly reports whether the caller's role reaches only rows that the caller created, or that were made for the caller. Lists filter by it.
func (tx *Tx) OwnOnly() bool { return tx.decision.Rows == authz.RowsOwn }

// AuthorityChanged makes this process drop its cached keys, roles and plans right after the commit.
func (tx *Tx) AuthorityChanged() { tx.db.AuthorityChanged() }

// AssignedOnly reports whether the caller's role reaches only rows that are assigned to the caller. Lists filter by it.
func (tx *Tx) AssignedOnly() bool { return tx.decision.Rows == authz.RowsAssigned }

// Ent returns the transaction's client.
func (tx *Tx) Ent() *ent.Client { return tx.Client }

// Lock makes the query lock its rows until the transaction ends. SQLite has one writer and needs no lock.
func Lock[Q interface {
	ForUpdate(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	return store.Lock(tx.db, q)
}

// Share makes the query hold its rows as they are until the transaction ends; others may hold them too.
func Share[Q interface {
	ForShare(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	return store.Share(tx.db, q)
}

// LockName takes the lock of that name until the operation ends. It serves where no row exists yet that could be locked.
func (tx *Tx) LockName(ctx context.Context, name string) error { return tx.db.LockName(ctx, name) }

// AtMost returns the error full when count finds as many rows as may be, or more. Creates that name the same lock run one after the other,
// so that concurrent ones cannot exceed the limit. Rows that the caller does not see count, too.
func (tx *Tx) AtMost(ctx context.Context, lock string, most int, count func(context.Context) (int, error), full error) error {
	if err := tx.LockName(ctx, lock); err != nil {
		return err
	}
	n, err := count(tx.Unfiltered(ctx, "rows that the caller does not see count, too"))
	if err != nil {
		return fmt.Errorf("count the rows of %s: %w", tx.info.Resource, err)
	}
	if n >= most {
		return full
	}
	return nil
}

// Warn logs something that the operator should look at although the operation goes on.
func (tx *Tx) Warn(ctx context.Context, msg string, args ...any) {
	tx.engine.Log.WarnContext(ctx, msg, args...)
}

// AsSystem runs fn in the operation's transaction without the tenancy guards; reason says why.
func (tx *Tx) AsSystem(ctx context.Context, reason string, fn func(context.Context) error) error {
	return tx.db.AsSystem(ctx, reason, fn)
}

// mayReach returns forbidden when the caller's role does not allow the operation, or does not reach this row.
func (tx *Tx) mayReach(ctx context.Context, row any) error {
	if !tx.decision.Allow {
		return tx.denied()
	}
	if within, err := tx.Within(ctx, tx.info, tx.decision.Rows, row, tx.principal.ID); err != nil || within {
		return err
	}
	return tx.denied()
}

// Within reports whether a role with this reach includes the row for a user who calls the operation.
func (tx *Tx) Within(ctx context.Context, info *Info, reach authz.Reach, row any, userID string) (bool, error) {
	if Reaches(reach, row, userID) {
		return true, nil
	}
	if info.reaches == nil || reach != authz.RowsOwn && reach != authz.RowsAssigned {
		return false, nil
	}
	return info.reaches(ctx, tx, row, userID)
}

// Reaches reports whether a role with this reach includes the row for the caller.
func Reaches(reach authz.Reach, row any, caller string) bool {
	switch reach {
	case authz.RowsAll:
		return true
	case authz.RowsOwn:
		return owned(row, "CreatedBy", caller) || owned(row, "RequesterID", caller)
	case authz.RowsAssigned:
		return owned(row, "AssigneeID", caller)
	}
	return false
}

// May returns forbidden when the caller lacks the verb, or when the verb requires a more recent sign-in. It is for rights that
// depend on a row which the operation has loaded.
func (tx *Tx) May(ctx context.Context, verb string) error {
	return tx.MayWith(ctx, tx.info.Scope, verb)
}

// MayWith is May for a right that takes another scope than the operation's own: publishing a workflow that sends a secret elsewhere.
func (tx *Tx) MayWith(ctx context.Context, scope, verb string) error {
	info := *tx.info
	info.Scope = scope
	if err := tx.mayAlso(ctx, &info, []string{verb}); err != nil {
		return err
	}
	return tx.provenRecently(tx.Now(ctx), []string{verb})
}

// Holds reports whether role and scopes give the caller a right that takes this scope. It is for what an answer leaves out, where MayWith
// would refuse the call.
func (tx *Tx) Holds(ctx context.Context, scope, verb string) (bool, error) {
	info := *tx.info
	info.Scope = scope
	d, err := tx.engine.decide(ctx, tx.principal, &info, verb)
	return d.Allow, err
}

// mayAlso returns forbidden when the caller lacks one of the verbs.
func (tx *Tx) mayAlso(ctx context.Context, info *Info, verbs []string) error {
	for _, verb := range verbs {
		d, err := tx.engine.decide(ctx, tx.principal, info, verb)
		if err != nil {
			return err
		}
		if !d.Allow {
			tx.decision = d
			return tx.denied()
		}
	}
	return nil
}

// owned reports whether the row's field holds the caller's id. A row without the field, such as a comment, belongs to the
// owner of the row that was loaded with it.
func owned(row any, field, caller string) bool {
	v := reflect.Indirect(reflect.ValueOf(row))
	if v.Kind() != reflect.Struct || caller == "" {
		return false
	}
	f := v.FieldByName(field)
	if edges := v.FieldByName("Edges"); !f.IsValid() && edges.IsValid() {
		for _, edge := range edges.Fields() {
			if edge.Kind() == reflect.Pointer && owned(edge.Interface(), field, caller) {
				return true
			}
		}
	}
	if f.IsValid() && f.Kind() == reflect.Pointer {
		f = f.Elem()
	}
	return f.IsValid() && f.Kind() == reflect.String && f.String() == caller
}

// SlugOf returns the given slug, or else one made from the name. If another row has that one already, the error tells the
// caller that the slug was made from the name.
func (tx *Tx) SlugOf(given *string, name, fallback string) string {
	if given != nil {
		return *given
	}
	tx.madeSlug = text.Slug(name, fallback)
	return tx.madeSlug
}

// Unaudited leaves a successful operation without an audit entry. It is for operations that change rows only through RunIn, whose
// operations write their own entries.
func (tx *Tx) Unaudited() { tx.unaudited = true }

// As sets the audit entry's action ("request.accepted") if it is not the operation's own.
func (tx *Tx) As(action string) { tx.action = action }

// About sets the id of the audit entry's row if it is not the id that the caller named.
func (tx *Tx) About(id string) { tx.subject = id }

// Changed records the row before and after for the audit entry: before is nil for a create, after is nil for a delete.
func (tx *Tx) Changed(before, after any) { tx.before, tx.after = before, after }

// ChangedField records one more field for the audit entry, such as the members of a team.
func (tx *Tx) ChangedField(name string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	if tx.extra == nil {
		tx.extra = map[string]audit.Change{}
	}
	tx.extra[name] = audit.Change{From: from, To: to}
}

// Emit writes an event in the transaction and passes it to the engine's subscribers. subject is the id of the row that it is
// about, data the payload's data.
func (tx *Tx) Emit(ctx context.Context, event, subject string, data any) error {
	return tx.EmitAs(ctx, events.Event{Name: event, SubjectID: subject, Data: data})
}

// EmitAs is Emit for an event with a cause. It sets the event's time.
func (tx *Tx) EmitAs(ctx context.Context, e events.Event) error {
	e.At = tx.Now(ctx)
	ctx = tx.Unfiltered(ctx, "subscribers are told of what happened, whatever the caller may see of them")
	ctx = context.WithValue(ctx, setKey{}, tx.attempt) // subscribers reuse the policies that this call has loaded
	return tx.engine.Events.Emit(ctx, tx.db, e)
}

func isTarget(in any) bool { _, ok := in.(Target); return ok }

// targetOf returns the id of the row that an input names, if it names one. It is empty for a text that the database cannot
// store, because no row has such an id.
func targetOf(in any) string {
	t, ok := in.(Target)
	if !ok || !input.Storable(t.TargetID()) {
		return ""
	}
	return t.TargetID()
}

// idOf returns the ID field of an operation's result.
func idOf(out any) string {
	v := reflect.Indirect(reflect.ValueOf(out))
	if v.Kind() != reflect.Struct {
		return ""
	}
	if f := v.FieldByName("ID"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}
