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

// forms are shared by all engines of the process: compiled forms are never changed, and ids name one offering anywhere.
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
