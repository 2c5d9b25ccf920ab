package op

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/audit"
	"atrium/internal/clock"
	"atrium/internal/events"
	"atrium/internal/input"
	"atrium/internal/principal"
	"atrium/internal/store"
	"atrium/internal/text"
)

// Tx is what an operation's function works on: the database, bound to the caller's company, and the caller.
type Tx struct {
	*ent.Client
	*attempt
	db *store.Tx // nil for reads

	action  string // of the audit entry, when the function names it
	subject string // the row that the entry is about, when the function names it
	before  any
	after   any
	extra   map[string]audit.Change
	reached any // the row that Reach named

	inner refusal // of an operation that RunIn ran in the transaction
}

// attempt is one call of one operation.
type attempt struct {
	engine    *Engine
	principal *principal.Principal
	also      *principal.Principal // who must be able to read it, too: an agent that reads as a requester; nil for nobody
	info      *Info
	verbs     []string
	target    string // the id that the caller named; empty for creates and lists
	decision  authz.Decision
	call      *Call

	preparation any    // what was made before the transaction began
	madeSlug    string // of a name, by SlugOf

	set       *authz.Set           // the company's access policies; nil outside of a company
	caller    *authz.Caller        // as they see it, once it was looked up
	rows      principal.Rows       // what they let the caller read; nil for everything
	narrowed  *principal.Principal // the caller whose queries they narrow; nil when they do not
	row       authz.Row            // what they were last asked about
	asked     Action               // and with which action
	writing   bool                 // within a write transaction
	late      atomic.Bool          // a statement that they narrow has met its deadline
	allowedBy authz.By
}

// Principal returns the caller.
func (tx *Tx) Principal() *principal.Principal { return tx.principal }

// Sealer returns what encrypts secrets.
func (tx *Tx) Sealer() Sealer { return tx.engine.Sealer }

// Agents returns what keeps agents' writes; nil for nothing.
func (tx *Tx) Agents() Agents { return tx.engine.Agents }

// NoAgents reports whether the operator keeps agents from doing anything on this node.
func (tx *Tx) NoAgents() bool { return tx.engine.NoAgents }

// Now returns the product's time.
func (tx *Tx) Now(ctx context.Context) time.Time { return clock.From(ctx).Now() }

// OwnOnly reports whether the caller's role reaches only rows that it made itself; lists narrow by it.
func (tx *Tx) OwnOnly() bool { return tx.decision.Rows == authz.RowsOwn }

// AuthorityChanged makes this process forget cached keys, roles and plans right after the commit.
func (tx *Tx) AuthorityChanged() { tx.db.AuthorityChanged() }

// AssignedOnly reports whether the caller's role reaches only rows that are assigned to it; lists narrow by it.
func (tx *Tx) AssignedOnly() bool { return tx.decision.Rows == authz.RowsAssigned }

// Reach tells that a row which the operation has loaded is assigned to the caller although no column names it: a task of one
// of its teams.
func (tx *Tx) Reach(row any) { tx.reached = row }

// Ent returns the transaction's client.
func (tx *Tx) Ent() *ent.Client { return tx.Client }

// Lock makes the query lock its rows until the transaction ends. SQLite has one writer and needs no lock.
func Lock[Q interface {
	ForUpdate(opts ...sql.LockOption) Q
}](tx *Tx, q Q) Q {
	return store.Lock(tx.db, q)
}

// LockName takes the lock of that name until the operation ends: for what has no row yet that could be locked.
func (tx *Tx) LockName(ctx context.Context, name string) error { return tx.db.LockName(ctx, name) }

// Warn logs what the operator should look at although the operation goes on.
func (tx *Tx) Warn(ctx context.Context, msg string, args ...any) {
	tx.engine.Log.WarnContext(ctx, msg, args...)
}

// AsSystem runs fn in the operation's transaction with the guards of tenancy out of the way; reason says why.
func (tx *Tx) AsSystem(ctx context.Context, reason string, fn func(context.Context) error) error {
	return tx.db.AsSystem(ctx, reason, fn)
}

// mayReach returns forbidden when the caller's role lacks the operation, or reaches other rows than this one.
func (tx *Tx) mayReach(row any) error {
	if !tx.decision.Allow {
		return tx.denied()
	}
	if !Reaches(tx.decision.Rows, row, tx.principal.ID) && (tx.reached == nil || tx.reached != row) {
		return tx.denied()
	}
	return nil
}

// Reaches reports whether a role that reaches some rows reaches this one of the caller's.
func Reaches(reach authz.Reach, row any, caller string) bool {
	switch reach {
	case authz.RowsAll:
		return true
	case authz.RowsOwn:
		return owned(row, "CreatedBy", caller)
	case authz.RowsAssigned:
		return owned(row, "AssigneeID", caller)
	}
	return false
}

// May returns forbidden when the caller lacks the verb, or when the verb needs a recent sign-in. Use it for rights that depend
// on a row which the operation has loaded.
func (tx *Tx) May(ctx context.Context, verb string) error {
	if err := tx.mayAlso(ctx, []string{verb}); err != nil {
		return err
	}
	return tx.provenRecently(tx.Now(ctx), []string{verb})
}

// mayAlso returns forbidden when the caller lacks one of the verbs.
func (tx *Tx) mayAlso(ctx context.Context, verbs []string) error {
	for _, verb := range verbs {
		d, err := tx.engine.decide(ctx, tx.principal, tx.info, verb)
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

// owned reports whether the row's field holds the caller's id. A row without the field, such as a comment, is whose the row
// is that was loaded with it.
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

// SlugOf returns the slug that an input gives, or else the one that is made of the name: should another row have that one,
// the refusal says so.
func (tx *Tx) SlugOf(given *string, name, fallback string) string {
	if given != nil {
		return *given
	}
	tx.madeSlug = text.Slug(name, fallback)
	return tx.madeSlug
}

// As names the audit entry's action ("request.accepted") where it is not the operation's own.
func (tx *Tx) As(action string) { tx.action = action }

// About names the row that the audit entry is about where it is not the one that the caller named.
func (tx *Tx) About(id string) { tx.subject = id }

// Changed records the row before and after for the audit entry: nil before a create, nil after a delete.
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

// Emit writes an event in the transaction and tells those who subscribe to events: subject is the id of the row it is about,
// data the payload's data.
func (tx *Tx) Emit(ctx context.Context, event, subject string, data any) error {
	ctx = tx.Unfiltered(ctx, "subscribers are told of what happened, whatever the caller may see of them")
	ctx = context.WithValue(ctx, setKey{}, tx.attempt) // with the company's policies, if they were asked
	return tx.engine.Events.Emit(ctx, tx.db, events.Event{Name: event, SubjectID: subject, At: tx.Now(ctx), Data: data})
}

// targetOf returns the id that an input names, if it is about one row. It is empty for a text that no database takes: no
// row has such an id.
func targetOf(in any) string {
	t, ok := in.(Target)
	if !ok || !input.Storable(t.TargetID()) {
		return ""
	}
	return t.TargetID()
}

// idOf returns the ID field of what an operation returned.
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
