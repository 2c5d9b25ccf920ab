package op

import (
	"context"
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/teammember"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// Access policies act on an operation at three places. Its queries return only rows that the caller may read (narrow). The
// policies must allow the row that it is about as the row is (mayTouch), and the resulting row as it would become (mayLeave). All
// of this costs nothing where the policies allow the action for every row.

// narrow returns the context in which the operation's function runs: its queries see the rows that the company's
// policies let the caller read.
func (a *attempt) narrow(ctx context.Context) (context.Context, error) {
	if a.principal.CompanyID == "" {
		return ctx, nil
	}
	set, err := a.engine.Policies(ctx, a.principal.CompanyID)
	if err != nil && authz.Exempt(a.principal, a.info.Resource) {
		a.engine.Log.ErrorContext(ctx, "the company's access policies cannot be read", "error", err, "company", a.principal.CompanyID)
		return ctx, nil // the owner must be able to repair the policies
	}
	if err != nil {
		return ctx, undecided(err)
	}
	a.set = set
	if a.info.Action != Read {
		if err := a.engine.Authz.Ready(ctx, set, string(a.info.Action), a.info.Resource); err != nil {
			return ctx, undecided(err)
		}
	}
	if a.engine.Authz.Open(set) {
		return ctx, nil // the default: everybody may read every row
	}
	who, err := a.who(ctx)
	if err != nil {
		return ctx, err
	}
	rows := a.engine.Authz.Rows(set, who)
	if a.also != nil {
		second, err := a.engine.Caller(ctx, set, a.also)
		if err != nil {
			return ctx, undecided(err)
		}
		rows = both(rows, a.engine.Authz.Rows(set, second))
	}
	if rows == nil {
		return ctx, nil
	}
	a.rows = &bounded{Rows: rows, attempt: a}
	a.narrowed = a.principal.WithRows(a.rows)
	return principal.With(ctx, a.narrowed), nil
}

// who returns the caller as policies see it, and looks it up once. Where an agent reads on behalf of a requester, policies are asked
// about the requester's own role: fewer of them may deny the weaker role.
func (a *attempt) who(ctx context.Context) (*authz.Caller, error) {
	if a.caller == nil {
		p := a.principal
		if a.also != nil {
			q := *p
			q.Role = a.also.Run.Requester.Role
			p = &q
		}
		c, err := a.engine.Caller(ctx, a.set, p)
		if err != nil {
			return nil, undecided(err)
		}
		a.caller = c
	}
	return a.caller, nil
}

// undecided turns an error on the way to a decision into a refusal: deciding fails closed. A database that is away is an error of its
// own, which refuses as well, and after which the caller tries again.
func undecided(err error) error {
	if store.IsUnavailable(err) {
		return err
	}
	return apperr.Wrap(err, apperr.Forbidden, "Access could not be decided.")
}

// Unfiltered returns a context in which queries see all rows of the company, including those that its access policies hide from
// the caller. It is for the product's own invariants, never for rows that are returned. reason says which invariant.
func (tx *Tx) Unfiltered(ctx context.Context, reason string) context.Context {
	if reason == "" {
		panic("op: a query is unfiltered for no reason")
	}
	if tx.narrowed == nil {
		return ctx
	}
	return principal.With(ctx, tx.principal)
}

// Authz returns the decision engine, for package policy, which tries out policies that are not in force.
func (tx *Tx) Authz() *authz.Engine { return tx.engine.Authz }

// PoliciesOf returns the policies of a principal's company, and the principal as they see it.
func (tx *Tx) PoliciesOf(ctx context.Context, who *principal.Principal) (*authz.Set, *authz.Caller, error) {
	set, err := tx.engine.Policies(ctx, who.CompanyID)
	if err != nil {
		return nil, nil, err
	}
	c, err := tx.engine.Caller(ctx, set, who)
	return set, c, err
}

// Narrowed reports whether policies may hide rows of an entity ("Request") from the caller.
func (tx *Tx) Narrowed(entity string) bool { return tx.narrowed != nil && tx.narrowed.Narrowed(entity) }

// mayBegin refuses an operation that the policies deny for every row. It never refuses a list, which comes out empty instead.
func (tx *Tx) mayBegin(ctx context.Context) error {
	info := tx.info
	if tx.set == nil || info.lists() || info.PerRow || !authz.Bound(info.Resource) || info.Action == Read && authz.HasRows(info.Resource) {
		return nil
	}
	if info.Action == Create && authz.HasRows(info.Resource) && !tx.engine.Authz.Unconditional(tx.set, string(Create), info.Resource) {
		return nil // mayLeave asks about the new row
	}
	return tx.ask(ctx, info.Action, authz.Row{Resource: info.Resource})
}

// Visible returns the filter for a hand-written query of a table; nil for none.
func (tx *Tx) Visible(table string) func(*sql.Selector) {
	if tx.narrowed == nil {
		return nil
	}
	return tx.narrowed.Narrow(authz.EntityOfTable(table))
}

// mayTouch refuses a row that the policies hide from the caller, and a row on which they deny the operation as the row is.
func (tx *Tx) mayTouch(ctx context.Context, row any) error {
	if tx.set == nil || tx.info.Action == Read {
		return nil // the statement that read the row was already filtered
	}
	name, _, ok := authz.EntityOf(row)
	if ok && tx.Narrowed(name) {
		// This holds even if the row was loaded without the filter.
		if err := tx.askOf(ctx, Read, row); err != nil {
			return err
		}
	}
	switch {
	case !authz.Bound(tx.info.Resource):
		return nil
	case tx.info.Action == Create:
		return tx.mayBegin(ctx)
	case ok && name == tx.info.Resource:
		return tx.askOf(ctx, tx.info.Action, row)
	}
	return tx.ask(ctx, tx.info.Action, authz.Row{Resource: tx.info.Resource})
}

// mayLeave refuses a change when the policies deny the resulting row.
func (tx *Tx) mayLeave(ctx context.Context, out any) error {
	if tx.set == nil || !authz.Bound(tx.info.Resource) || tx.info.Action != Create && tx.info.Action != Update ||
		tx.engine.Authz.Unconditional(tx.set, string(tx.info.Action), tx.info.Resource) {
		return nil // mayBegin or mayTouch has asked already if the answer is the same for every row
	}
	for _, row := range []any{tx.after, out} {
		if name, _, ok := authz.EntityOf(row); ok && name == tx.info.Resource {
			return tx.askOf(ctx, tx.info.Action, row)
		}
	}
	if tx.info.Action == Update || !authz.HasRows(tx.info.Resource) {
		return nil // no row of the resource has changed, and mayTouch has asked about the old one
	}
	return tx.ask(ctx, tx.info.Action, authz.Row{Resource: tx.info.Resource})
}

// mayGive refuses a create whose answer would show its caller a row that the policies hide from the caller. An update may hand a
// row over to others: its caller has read the row before, and knows what it has changed.
func (tx *Tx) mayGive(ctx context.Context, out any) error {
	if tx.info.Action != Create {
		return nil
	}
	for _, row := range []any{out, tx.after} {
		if err := tx.MayRead(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// askOf asks the policies about an entity.
func (tx *Tx) askOf(ctx context.Context, action Action, entity any) error {
	name, _, ok := authz.EntityOf(entity)
	if !ok {
		return undecided(fmt.Errorf("%T is no row of a resource", entity))
	}
	if tx.engine.Authz.Unconditional(tx.set, string(action), name) {
		row, _ := authz.RowOf(entity, nil) // only for the decision log
		return tx.ask(ctx, action, row)
	}
	row, err := tx.RowOf(ctx, entity)
	if err != nil {
		return undecided(err)
	}
	return tx.ask(ctx, action, row)
}

// decideRow decides about a row for the caller, and for the second reader of the call if there is one.
func (tx *Tx) decideRow(ctx context.Context, action Action, row authz.Row) (authz.Decision, error) {
	who, err := tx.who(ctx)
	if err != nil {
		return authz.Decision{}, err
	}
	verb := tx.verbs[0]
	if tx.info.OfAgents {
		verb = commonRight // no role grants the operation's own verb, and ofAgents has decided about it
	}
	q := tx.info.question(verb, action, row.Resource)
	d, err := tx.engine.Authz.DecideRow(ctx, tx.set, who, q, row)
	if err == nil && d.Allow && tx.also != nil {
		if who, err = tx.engine.Caller(ctx, tx.set, tx.also); err == nil {
			d, err = tx.engine.Authz.DecideRow(ctx, tx.set, who, q, row)
		}
	}
	if err != nil {
		return authz.Decision{}, undecided(err)
	}
	return d, nil
}

// ask asks the policies about a row. Returns forbidden when they deny.
func (tx *Tx) ask(ctx context.Context, action Action, row authz.Row) error {
	d, err := tx.decideRow(ctx, action, row)
	if err != nil {
		return err
	}
	tx.row, tx.asked = row, action
	if d.Allow && d.Approval != "" && !tx.approved() && !tx.info.OfAgents { // an agent's work on its own runs does nothing yet
		d = authz.Decision{By: authz.By{Kind: "approval", ID: d.Approval}, Rows: authz.RowsNone}
	}
	if d.Allow {
		tx.allowedBy = d.By
		return nil
	}
	tx.decision = d
	return tx.denied()
}

// approved reports whether a person has approved the agent's action.
func (a *attempt) approved() bool {
	return a.principal.Cause != nil && a.principal.Cause.ApprovedBy != ""
}

// MayCreate returns forbidden when the policies deny the caller to create a row like this one. An update that amounts to a create
// asks it.
func (tx *Tx) MayCreate(ctx context.Context, entity any) error {
	if tx.set == nil {
		return nil
	}
	return tx.askOf(ctx, Create, entity)
}

// MayRead returns forbidden when the policies hide a row from the caller, even if it was loaded without the filter.
func (tx *Tx) MayRead(ctx context.Context, entity any) error {
	name, _, ok := authz.EntityOf(entity)
	if !ok || !tx.Narrowed(name) {
		return nil
	}
	return tx.askOf(ctx, Read, entity)
}

// Shows reports whether the policies let the caller read a row, as it is or as it was recorded. It refuses nothing.
func (tx *Tx) Shows(ctx context.Context, row authz.Row) (bool, error) {
	if !tx.Narrowed(row.Resource) {
		return true, nil
	}
	d, err := tx.decideRow(ctx, Read, row)
	return d.Allow, err
}

// Filtered undoes Unfiltered.
func (tx *Tx) Filtered(ctx context.Context) context.Context {
	if tx.narrowed == nil {
		return ctx
	}
	return principal.With(ctx, tx.narrowed)
}

// concealed reports whether the refusal must not name its policy. Somebody who may write policies could learn what a hidden row
// contains by writing policies and watching which of them hide it.
func (a *attempt) concealed() bool {
	if a.asked != Read || a.decision.By.Kind != "policy" {
		return false
	}
	who := *a.principal
	who.Method, who.Scopes = principal.MethodSession, principal.AllScopes // the person could sign in and get these rights
	d, err := a.engine.Authz.Decide(context.Background(), &who, authz.Question{Verb: "accesspolicy.update", AdminLayer: true})
	return err != nil || d.Allow
}

// commonRight is a right that every role has.
const commonRight = "request.read"

// question is what authz is asked about a caller of the operation.
func (i *Info) question(verb string, action Action, resource string) authz.Question {
	return authz.Question{Verb: verb, Scope: i.Scope, AdminLayer: i.AdminLayer, Action: string(action), Resource: resource}
}

// RowOf returns an entity as policies see it, with its lists as they are in the transaction.
func (tx *Tx) RowOf(ctx context.Context, entity any) (authz.Row, error) {
	ctx = tx.Unfiltered(ctx, "a policy looks at a row's lists whole")
	lists := map[string][]string{}
	var err error
	switch e := entity.(type) {
	case *ent.User:
		lists["teamIds"], err = tx.TeamMember.Query().Where(teammember.UserID(e.ID)).Order(teammember.ByTeamID()).
			Select(teammember.FieldTeamID).Strings(ctx)
	case *ent.Team:
		lists["memberIds"], err = tx.TeamMember.Query().Where(teammember.TeamID(e.ID)).Order(teammember.ByUserID()).
			Select(teammember.FieldUserID).Strings(ctx)
	}
	if err != nil {
		return authz.Row{}, fmt.Errorf("read the row's lists: %w", err)
	}
	row, ok := authz.RowOf(entity, lists)
	if !ok {
		return authz.Row{}, fmt.Errorf("%T is no row of a resource", entity)
	}
	return tx.Below(ctx, row)
}

// Below returns a row together with the rows that it belongs to, as they are in the transaction. If one of these was deleted, the
// row comes back without any, and any policy on them then hides it.
func (tx *Tx) Below(ctx context.Context, row authz.Row) (authz.Row, error) {
	ctx = tx.Unfiltered(ctx, "what a row belongs to may hide it")
	var parents []authz.Row
	for _, ref := range row.Parents() {
		if ref.ID == "" {
			parents = append(parents, authz.Row{})
			continue
		}
		entity, err := authz.Load(ctx, tx.Client, ref.Resource, ref.ID)
		if ent.IsNotFound(err) {
			return row, nil
		}
		if err != nil {
			return row, fmt.Errorf("read what the row belongs to: %w", err)
		}
		parent, err := tx.RowOf(ctx, entity)
		if err != nil {
			return row, err
		}
		parents = append(parents, parent)
	}
	return row.Below(parents...), nil
}

// secondLook tells a row that does not exist from one that the policies hide, after load found no row that the caller may see. It
// returns err, or forbidden with the policy that hides the row.
func secondLook[Row any](ctx context.Context, tx *Tx, id string, load func(context.Context, *Tx, string) (Row, error), err error) error {
	if tx.narrowed == nil || !isNotFound(err) {
		return err
	}
	row, lerr := load(tx.Unfiltered(ctx, "whether a row is hidden or not there"), tx, id)
	if lerr != nil {
		if isNotFound(lerr) {
			return err
		}
		return lerr
	}
	if !tx.decision.Allow {
		return tx.denied()
	}
	if derr := tx.askOf(ctx, Read, row); derr != nil {
		return derr
	}
	if !authz.AboutOthers(tx.row.Resource) { // such rows are hidden together with the rows that they are about
		// The filter hides a row that the decision allows, although both implement one rule. Refuse, and log the disagreement.
		tx.engine.Log.ErrorContext(ctx, "a row was hidden by a filter and allowed by the decision", "resource", tx.row.Resource, "id", id)
	}
	tx.decision = authz.Decision{By: authz.By{Kind: "policy"}, Rows: authz.RowsNone}
	return tx.denied()
}

// isNotFound reports whether err says that there is no such row.
func isNotFound(err error) bool {
	if e, ok := errors.AsType[*apperr.Error](err); ok {
		return e.Code == apperr.NotFound
	}
	return ent.IsNotFound(err)
}
