package request

import (
	"context"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"atrium/ent"
	"atrium/internal/desk/form"
	"atrium/internal/op"
)

// forms caches compiled forms by offering. All engines of the process share it: compiled forms never change, and an id names the
// same offering everywhere. Saving an offering changes its updatedAt, by which operations recognise an outdated form.
var forms, _ = lru.New[formKey, *cachedForm](1024)

type formKey struct{ companyID, offeringID string }

type cachedForm struct {
	at   time.Time
	form *form.Form // nil for an offering without one

	calendar string // by which the offering's service levels count
}

// formOf returns an offering's cached form, which may be outdated; nil when the company has no such offering.
func formOf(ctx context.Context, tx *op.Tx, offeringID string) (*cachedForm, error) {
	key := formKey{tx.Principal().CompanyID, offeringID}
	if hit, ok := forms.Get(key); ok {
		return hit, nil
	}
	off, err := tx.Offering.Get(ctx, offeringID)
	if ent.IsNotFound(err) {
		return nil, nil // no such offering
	}
	if err != nil {
		return nil, fmt.Errorf("read the offering: %w", err)
	}
	made := &cachedForm{at: off.UpdatedAt, calendar: op.Or(off.CalendarID, "")}
	if off.Form != nil {
		err = tx.Costly(ctx, func(context.Context) (err error) {
			made.form, err = form.Compile(*off.Form)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("compile the form of %s: %w", off.ID, err)
		}
	}
	forms.Add(key, made)
	return made, nil
}

// forgetOlder drops an offering's form, unless it is that of the row.
func forgetOlder(off *ent.Offering) {
	key := formKey{off.CompanyID, off.ID}
	if cached, ok := forms.Peek(key); ok && !cached.at.Equal(off.UpdatedAt) {
		forms.Remove(key)
	}
}
