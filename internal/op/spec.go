package op

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"atrium/internal/op/input"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Action is what an operation does to its resource, as access policies name it.
type Action string

// The actions.
const (
	Read   Action = "read"
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
)

// Spec says what an operation touches and what it needs.
type Spec struct {
	Resource   string // as policies and audit entries spell it: "Request"
	Action     Action
	Scope      string            // "requests:write"; empty: any scopes suffice, and the role decides
	OfAgents   bool              // an agent's own runs: its key writes these directly, without a proposal
	AdminLayer bool              // settings that require a person, never an API key
	LiveOnly   bool              // a sandbox has no such rows, or mirrors those of its live company: conflict there
	PerRow     bool              // performs operations on the rows that its input names: policies are asked about each of them, and not about itself
	Past       map[string]string // audit actions of verbs that do not simply take "ed": "request.cancelled"
	Summary    string            // one line, for the API reference
	Sorts      Sorts             // lists only: the fields that sort accepts
}

// Sorts maps the fields by which a list can be ordered, as the API names them, to columns. If the index continues with
// further columns, they follow after a comma: "status,created_at".
type Sorts map[string]string

// Alphabetical names a column in Sorts of texts that people write, which are ordered by Unicode's root collation: see store.Collation.
func Alphabetical(column string) string { return column + " alphabetical" }

// Info describes an operation without its types.
type Info struct {
	Name string // "request.create"
	Verb string // what roles grant: the name, or "request.read" for everything that reads requests
	Spec
	Input *input.Input // how the operation's input is read and checked
	Out   reflect.Type

	varies  bool     // the rights depend on the input
	least   []string // the rights for an empty input, if they vary
	reaches Takes    // see Reaching; nil for an operation whose rows are reached by their columns alone
}

// Target is an input that names the row it is about.
type Target interface{ TargetID() string }

// Seen is embedded in the inputs of operations that change one row.
type Seen struct {
	IfMatch *string `json:"-"` // the tag of the row as the caller saw it, if the door binds it to the input; nil for any
}

// SeenAs returns the tag of the row as the caller saw it.
func (s Seen) SeenAs() *string { return s.IfMatch }

// ByID is embedded in the inputs of operations on one row.
type ByID struct {
	Seen
	ID string `json:"-" path:"id" doc:"The row's id." maxLength:"64"`
}

// TargetID returns the row's id.
func (b ByID) TargetID() string { return b.ID }

// Operation is one thing that the product can do.
type Operation[In, Out any] struct {
	info     Info
	verbs    func(In) []string
	rowVerbs func(row any, in In) []string
	prepare  func(ctx context.Context, tx *Tx, in In) (any, error)
	calls    bool // see Calling
	run      func(ctx context.Context, tx *Tx, in In) (Out, error)
	again    func(ctx context.Context, tx *Tx, in In) error // checks the same rights as run, before a stored answer is returned
	rights   func(ctx context.Context, tx *Tx, in In) error // the same with If-Match, before a preparation that calls others

	faults   func(ctx context.Context, tx *Tx, in In) ([]apperr.Detail, error) // see WithFaults
	faultsOf []string
}

// Info returns the operation's description, for tables and documents.
func (o *Operation[In, Out]) Info() *Info { return &o.info }

// lists reports whether the operation is a list: by its name, "request.list".
func (i *Info) lists() bool { return strings.HasSuffix(i.Name, ".list") }

// Verbs returns the rights that the operation requires at least, whatever its input.
func (i *Info) Verbs() []string {
	if i.varies {
		return i.least
	}
	return []string{i.Verb}
}

// WithVerbs makes the operation require finer rights than its name, depending on the input: a change of status to
// IN_PROGRESS requires request.accept. The caller needs all of them; the first names the audit entry.
func (o *Operation[In, Out]) WithVerbs(verbs func(In) []string) *Operation[In, Out] {
	var none In
	o.verbs, o.info.varies, o.info.least = verbs, true, verbs(none)
	return o
}

// WithRowVerbs makes an operation on a row require further rights that depend on the row as it is: changing an owner
// requires user.update_owner. They are checked before If-Match is compared with the row.
func (o *Operation[In, Out]) WithRowVerbs(verbs func(row any, in In) []string) *Operation[In, Out] {
	o.rowVerbs = verbs
	return o
}

// Takes reports whether a user takes part in a row although no column of it names the user: the row is a task of the user's team.
type Takes func(ctx context.Context, tx *Tx, row any, userID string) (bool, error)

// Reaching extends the operation to rows in which the caller takes part, for callers whose role reaches only rows of their own or
// rows that are assigned to them. Those who tell beforehand what somebody may do ask the same function.
func (o *Operation[In, Out]) Reaching(takes Takes) *Operation[In, Out] {
	o.info.reaches = takes
	return o
}

// declared holds the operations that packages declare at start, and that tests declare while other tests run.
var declared = struct {
	sync.Mutex
	all []*Info
}{}

// All returns every operation of the packages that are linked in, ordered by name.
func All() []*Info {
	declared.Lock()
	out := slices.Clone(declared.all)
	declared.Unlock()
	slices.SortFunc(out, func(a, b *Info) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// New declares an operation that is about no existing row: a create or a list.
func New[In, Out any](name string, spec Spec, fn func(context.Context, *Tx, In) (Out, error)) *Operation[In, Out] {
	o := declare[In, Out](name, spec)
	o.run = func(ctx context.Context, tx *Tx, in In) (Out, error) {
		if err := tx.provenRecently(tx.Now(ctx), tx.verbs); err != nil {
			var none Out
			return none, err
		}
		return fn(ctx, tx, in)
	}
	o.again = func(ctx context.Context, tx *Tx, _ In) error { return tx.provenRecently(tx.Now(ctx), tx.verbs) }
	o.rights = o.again
	return o
}

// OnRow declares an operation on one row. load fetches the row that the caller names. It checks no rights: it reads among the
// company's rows that the access policies show to the caller, and returns Ent's not-found error when there is none. Rights and
// If-Match are checked on that row, then fn runs.
func OnRow[In Target, Row, Out any](name string, spec Spec,
	load func(context.Context, *Tx, string) (Row, error),
	fn func(context.Context, *Tx, Row, In) (Out, error),
) *Operation[In, Out] {
	o := declare[In, Out](name, spec)
	// rights loads the row and checks that the caller may perform the operation on it.
	rights := func(ctx context.Context, tx *Tx, in In) (row Row, err error) {
		id := targetOf(in)
		if row, err = load(ctx, tx, id); err != nil {
			return row, secondLook(ctx, tx, id, load, err)
		}
		if err := tx.mayReach(ctx, row); err != nil {
			return row, err
		}
		verbs := tx.verbs
		if o.rowVerbs != nil {
			further := o.rowVerbs(row, in)
			if err := tx.mayAlso(ctx, tx.info, further); err != nil {
				return row, err
			}
			verbs = slices.Concat(verbs, further)
		}
		if err := tx.provenRecently(tx.Now(ctx), verbs); err != nil {
			return row, err
		}
		return row, tx.mayTouch(ctx, row)
	}
	current := func(ctx context.Context, tx *Tx, in In) (Row, error) {
		row, err := rights(ctx, tx, in)
		if err == nil {
			err = tx.call.matches(row)
		}
		return row, err
	}
	o.rights = func(ctx context.Context, tx *Tx, in In) error {
		_, err := current(ctx, tx, in)
		return err
	}
	o.again = func(ctx context.Context, tx *Tx, in In) error {
		_, err := rights(ctx, tx, in)
		if isNotFound(err) && tx.decision.Allow {
			return tx.answerOfDeleted(err)
		}
		return err
	}
	o.run = func(ctx context.Context, tx *Tx, in In) (Out, error) {
		row, err := current(ctx, tx, in)
		if err != nil {
			var none Out
			return none, err
		}
		return fn(ctx, tx, row, in)
	}
	return o
}

// Get declares the operation that reads one row.
func Get[Row any](name string, spec Spec, load func(context.Context, *Tx, string) (Row, error)) *Operation[ByID, Row] {
	return OnRow(name, spec, load, func(_ context.Context, _ *Tx, row Row, _ ByID) (Row, error) { return row, nil })
}

func declare[In, Out any](name string, spec Spec) *Operation[In, Out] {
	if spec.Scope != "" && principal.ScopeOf(spec.Scope) == 0 {
		panic(fmt.Sprintf("operation %s: unknown scope %q", name, spec.Scope)) // a programming error, found at start
	}
	declared.Lock()
	defer declared.Unlock()
	o := &Operation[In, Out]{info: Info{
		Name: name, Verb: verbOf(name, spec.Action), Spec: spec, Out: reflect.TypeFor[Out](),
		Input: input.Of(reflect.TypeFor[In](), slices.Sorted(maps.Keys(spec.Sorts))),
	}}
	declared.all = append(declared.all, &o.info)
	return o
}

// verbOf returns the right that an operation requires unless WithVerbs says otherwise.
func verbOf(name string, action Action) string {
	noun, _, _ := strings.Cut(name, ".")
	if action == Read {
		return noun + ".read"
	}
	return name
}
