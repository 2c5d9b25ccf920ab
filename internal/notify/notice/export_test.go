package notice

import (
	"context"
	"errors"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// MailDigests mails what is due, company after company.
func MailDigests(ctx context.Context, e *op.Engine, reads Reads) error {
	companies, err := e.Store.Reader().Company.Query().Order(ent.Asc("id")).IDs(principal.System(ctx, "test"))
	errs := []error{err}
	for _, id := range companies {
		errs = append(errs, (&digester{engine: e, reads: reads}).mails(ctx, id))
	}
	return errors.Join(errs...)
}

// WorkIn is Work with the places of the caller.
var WorkIn = workIn

// NextDigest returns when digests are mailed next in a zone.
var NextDigest = nextDigest
