package op

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"atrium/authz"
	"atrium/ent"
	"atrium/internal/op/events"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
)

// A webhook subscription is a principal (principal.Webhook): it gets no events about rows that the access policies hide from it.
// The policies are asked twice, when an event happens and when it is sent.

// EventVisibleNow tells which subscriptions may read what an event is about, in the transaction in which the event happens. It lets a
// subscription pass, and leaves the decision to EventVisible, where deciding may take long: when the policies are not in memory, or when
// they have globs. It makes no query where the policies give the same answer for every row.
func (e *Engine) EventVisibleNow(ctx context.Context, db *ent.Client, ev *ent.Event, subscriptions []string) (func(id string) bool, error) {
	on, err := resourceOf(ev)
	if err != nil {
		return nil, err
	}
	set, known := e.remembered(ctx, ev.CompanyID)
	if !known || set.Slow() {
		return func(string) bool { return true }, nil
	}
	return e.mayReceive(ctx, db, set, on, ev, subscriptions)
}

type setKey struct{}

// remembered returns the company's policies if they are in memory, because the call that makes the event, or an earlier one, has
// loaded them.
func (e *Engine) remembered(ctx context.Context, companyID string) (*authz.Set, bool) {
	if a, ok := ctx.Value(setKey{}).(*attempt); ok && a.set != nil && a.principal.CompanyID == companyID {
		return a.set, true
	}
	return e.policies.sets.Kept(e.Store, companyID)
}

// EventVisible reports whether a subscription may read what an event is about, as it is now. Where the company's policies have globs,
// this runs as its costly work.
func (e *Engine) EventVisible(ctx context.Context, ev *ent.Event, subscription string) (shown bool, err error) {
	on, err := resourceOf(ev)
	if err != nil {
		return false, err
	}
	set, err := e.Policies(ctx, ev.CompanyID)
	if err != nil {
		return false, err
	}
	ask := func(ctx context.Context) error {
		receives, err := e.mayReceive(ctx, e.Store.Reader(), set, on, ev, []string{subscription})
		if err == nil {
			shown = receives(subscription)
		}
		return err
	}
	if set.Slow() {
		err = e.Costly(ctx, ev.CompanyID, ask)
	} else {
		err = ask(ctx)
	}
	return shown, err
}

// mayReceive asks the policies about the row, of the resource on, for each of the subscriptions. Where policies depend on the row, it
// hides a row that was deleted.
func (e *Engine) mayReceive(ctx context.Context, db *ent.Client, set *authz.Set, on string, ev *ent.Event, subscriptions []string) (func(id string) bool, error) {
	q := authz.Question{Verb: strings.ToLower(on) + ".read", Action: string(Read), Resource: on}
	ask := func(id string, row authz.Row) bool {
		who := &authz.Caller{Principal: principal.Webhook(ev.CompanyID, id), Time: clock.From(ctx).Now()}
		d, err := e.Authz.DecideRow(ctx, set, who, q, row)
		return err == nil && d.Allow
	}
	if e.Authz.Unconditional(set, string(Read), on) {
		all := ask("", authz.Row{Resource: on})
		return func(string) bool { return all }, nil
	}
	row, found, err := e.rowOfEvent(ctx, db, on, ev)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, id := range subscriptions {
		shown[id] = found && ask(id, row)
	}
	return func(id string) bool { return shown[id] }, nil
}

// rowOfEvent returns the row that an event is about, as it is now. For a test event it builds the row from the event's data.
func (e *Engine) rowOfEvent(ctx context.Context, db *ent.Client, on string, ev *ent.Event) (authz.Row, bool, error) {
	p, ok := principal.From(ctx)
	if !ok {
		return authz.Row{}, false, fmt.Errorf("look at what %s is about: nobody asks", ev.ID)
	}
	tx := &Tx{Client: db, attempt: &attempt{engine: e, principal: p}}
	if strings.HasPrefix(ev.SubjectID, "whs_") {
		row, err := rowOfTestEvent(on, ev)
		return row, err == nil, err
	}
	entity, err := authz.Load(ctx, db, on, ev.SubjectID)
	if ent.IsNotFound(err) {
		return authz.Row{}, false, nil
	}
	if err != nil {
		return authz.Row{}, false, fmt.Errorf("read what %s is about: %w", ev.ID, err)
	}
	row, err := tx.RowOf(ctx, entity)
	return row, err == nil, err
}

// rowOfTestEvent returns the row that a test event's data describe, below a request of which only the data's ids are known.
func rowOfTestEvent(on string, ev *ent.Event) (authz.Row, error) {
	var payload struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(ev.Payload, &payload); err != nil {
		return authz.Row{}, fmt.Errorf("read the data of %s: %w", ev.ID, err)
	}
	row := authz.RowOfInput(on, ev.SubjectID, payload.Data)
	if len(row.Parents()) == 0 {
		return row, nil
	}
	return row.Below(authz.RowOfInput("Request", ev.SubjectID, map[string]any{
		"id": payload.Data["requestId"], "serviceId": payload.Data["serviceId"],
	})), nil
}

// resourceOf returns the resource that an event is about. An unknown one is an error, so that nothing is sent past the policies.
func resourceOf(ev *ent.Event) (string, error) {
	if on := events.Resource(ev.Type); on != "" {
		return on, nil
	}
	return "", fmt.Errorf("access policies do not know what the event %s is about", ev.Type)
}
