package op

import (
	"errors"
	"strings"

	"atrium/ent"
	"atrium/ent/schema"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/store"
	"atrium/internal/platform/text"
)

// public turns an error, such as a constraint violation of the database, into the error that the
// caller sees.
func (a *attempt) public(err error) *apperr.Error {
	if _, said := errors.AsType[*apperr.Error](err); !said && a.late.Load() {
		return tooLong(err)
	}
	if v, ok := errors.AsType[*store.Violation](err); ok {
		switch {
		case v.Kind == store.Unique && len(v.Columns) > 0:
			field := text.Camel(v.Columns[len(v.Columns)-1])
			if field == "slug" && a.madeSlug != "" {
				return apperr.Wrap(err, apperr.Conflict, "Another %s has the slug %s, which was made of the name. Send slug to choose another one.",
					strings.ToLower(a.info.Resource), a.madeSlug)
			}
			return apperr.Wrap(err, apperr.Conflict, "Another %s has this %s.", strings.ToLower(a.info.Resource), field)
		case v.Kind == store.Unique:
			return apperr.Wrap(err, apperr.Conflict, "The row exists already.")
		case a.info.Action == Delete:
			return apperr.Wrap(err, apperr.Conflict, "The %s is still in use.", strings.ToLower(a.info.Resource))
		default:
			return apperr.Wrap(err, apperr.Conflict, "A row that this refers to has just gone.")
		}
	}
	switch {
	case errors.Is(err, schema.ErrOtherCompany):
		return apperr.Wrap(err, apperr.NotFound, "%s not found.", a.info.Resource)
	case errors.Is(err, store.ErrBusy), errors.Is(err, ErrOutdated):
		return apperr.Busy(err)
	case ent.IsNotFound(err):
		return apperr.Wrap(err, apperr.NotFound, "%s not found.", a.info.Resource)
	}
	return apperr.From(err)
}
