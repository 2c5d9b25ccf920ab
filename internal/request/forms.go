package request

import (
	"context"
	"fmt"
	"sync"
	"time"

	"atrium/ent"
	"atrium/internal/form"
	"atrium/internal/op"
)

// maxForms limits the cached compiled forms; when it is reached, all are dropped and compiled again as needed.
const maxForms = 1024

// formCache caches compiled forms by offering. Saving an offering changes its updatedAt, by which operations recognise
// an outdated form.
type formCache struct {
	mu    sync.Mutex
	forms map[string]*cachedForm
}

type cachedForm struct {
	at   time.Time
	form *form.Form // nil for an offering without one
}

// forms is shared by all engines of the process: compiled forms never change, and an id names the same offering
// everywhere.
var forms = &formCache{forms: map[string]*cachedForm{}}

// of returns an offering's cached form, which may be outdated; nil when the company has no such offering.
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
		return nil, nil // no such offering
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

// forgetOlder drops an offering's form, unless it is that of the row.
func (c *formCache) forgetOlder(off *ent.Offering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := off.CompanyID + "/" + off.ID
	if cached := c.forms[key]; cached != nil && !cached.at.Equal(off.UpdatedAt) {
		delete(c.forms, key)
	}
}
