package request

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"atrium/ent"
	"atrium/ent/team"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/form"
	"atrium/internal/op"
)

// fieldsChecked is what came of holding values against an offering's form before the transaction.
type fieldsChecked struct {
	at     time.Time // the offering's updatedAt
	faults []apperr.Detail
}

// cheap is up to which Cost values are checked without waiting for a turn: about a millisecond.
const cheap = 100_000

// prepareFields holds submitted values against the offering's form; without one, any bounded values pass. An offering that
// does not exist has no faults: the operation will say so. Offerings are remembered, so that this reads one only when it
// has changed.
func prepareFields(ctx context.Context, tx *op.Tx, offeringID string, values map[string]any) (any, error) {
	c, err := forms.of(ctx, tx, offeringID)
	if err != nil || c == nil {
		return nil, err
	}
	out := fieldsChecked{at: c.at}
	if c.form == nil {
		out.faults = form.Free(values)
		return out, nil
	}
	check := func(ctx context.Context) error {
		// Who may not see somebody may not name them.
		details, err := c.form.Validate(tx.Filtered(ctx), values, form.Lookups{Users: usersOf(tx), Teams: teamsOf(tx)})
		if err != nil {
			return fmt.Errorf("check the fields: %w", err)
		}
		out.faults = details
		return nil
	}
	if c.form.Cost(values) > cheap {
		return out, tx.Costly(ctx, check)
	}
	err = check(ctx)
	return out, err
}

// checkFields names what prepareFields found, if it was about the offering as it is.
func checkFields(tx *op.Tx, off *ent.Offering) error {
	c, ok := op.Preparation[fieldsChecked](tx)
	switch {
	case !ok, !c.at.Equal(off.UpdatedAt):
		forms.forget(off)
		return op.ErrOutdated
	case len(c.faults) > 0:
		return apperr.Invalid(c.faults...)
	}
	return nil
}

// answers writes submitted values as the row keeps them; nil for none.
func answers(values map[string]any) (json.RawMessage, error) {
	if len(values) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("write the fields: %w", err)
	}
	return raw, nil
}

// usersOf tells which ids are users of the caller's company.
func usersOf(tx *op.Tx) func(context.Context, []string) (map[string]bool, error) {
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		found, err := tx.User.Query().Where(user.IDIn(ids...)).IDs(ctx)
		return set(found), err
	}
}

// teamsOf tells which ids are teams of the caller's company.
func teamsOf(tx *op.Tx) func(context.Context, []string) (map[string]bool, error) {
	return func(ctx context.Context, ids []string) (map[string]bool, error) {
		found, err := tx.Team.Query().Where(team.IDIn(ids...)).IDs(ctx)
		return set(found), err
	}
}

func set(ids []string) map[string]bool {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// maxForms bounds the compiled forms that are kept; past it they are all forgotten and made anew as needed.
const maxForms = 1024

// formCache keeps compiled forms by offering. An offering that was saved again has another updatedAt, by which the
// operations see that what is kept here is old.
type formCache struct {
	mu    sync.Mutex
	forms map[string]*cachedForm
}

type cachedForm struct {
	at   time.Time
	form *form.Form // nil for an offering without one
}

var forms = &formCache{forms: map[string]*cachedForm{}}

// of returns an offering's form as it was at some time; nil when there is no such offering in the company.
func (c *formCache) of(ctx context.Context, tx *op.Tx, offeringID string) (*cachedForm, error) {
	key := tx.Principal().CompanyID + "/" + offeringID
	c.mu.Lock()
	hit := c.forms[key]
	c.mu.Unlock()
	if hit != nil {
		return hit, nil
	}
	off, err := tx.Offering.Get(ctx, offeringID)
	if ent.IsNotFound(err) {
		return nil, nil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	made := &cachedForm{at: off.UpdatedAt}
	if off.Form != nil {
		err = tx.Costly(ctx, func(context.Context) (err error) {
			made.form, err = form.Compile(*off.Form)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("compile the form of %s: %w", off.ID, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.forms) >= maxForms {
		clear(c.forms)
	}
	c.forms[key] = made
	return made, nil
}

// forget takes a form away that is not the offering's any more.
func (c *formCache) forget(off *ent.Offering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.forms, off.CompanyID+"/"+off.ID)
}
