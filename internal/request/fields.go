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

// checkFields holds submitted values against the offering's form; without one, any bounded values pass.
func checkFields(ctx context.Context, tx *op.Tx, off *ent.Offering, values map[string]any) error {
	if off.Form == nil {
		if details := form.Free(values); len(details) > 0 {
			return apperr.Invalid(details...)
		}
		return nil
	}
	f, err := forms.compiled(off)
	if err != nil {
		return fmt.Errorf("compile the form of %s: %w", off.ID, err)
	}
	details, err := f.Validate(ctx, values, form.Lookups{Users: usersOf(tx), Teams: teamsOf(tx)})
	if err != nil {
		return fmt.Errorf("check the fields: %w", err)
	}
	if len(details) > 0 {
		return apperr.Invalid(details...)
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

// formCache keeps compiled forms by offering. An offering that was saved again has another updatedAt, and so another
// form here.
type formCache struct {
	mu    sync.Mutex
	forms map[string]cachedForm
}

type cachedForm struct {
	at   time.Time
	form *form.Form
}

var forms = &formCache{forms: map[string]cachedForm{}}

func (c *formCache) compiled(off *ent.Offering) (*form.Form, error) {
	c.mu.Lock()
	hit, ok := c.forms[off.ID]
	c.mu.Unlock()
	if ok && hit.at.Equal(off.UpdatedAt) {
		return hit.form, nil
	}
	f, err := form.Compile(*off.Form)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.forms) >= maxForms {
		clear(c.forms)
	}
	c.forms[off.ID] = cachedForm{at: off.UpdatedAt, form: f}
	return f, nil
}
