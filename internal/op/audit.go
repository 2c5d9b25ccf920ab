package op

import (
	"cmp"
	"context"
	"strings"

	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/audit"
)

// audit writes an entry of this attempt: its action, the id of the row that it is about (empty for none), how it ended and
// what it changed.
func (a *attempt) audit(ctx context.Context, db *ent.Client, action, id string, outcome auditentry.Outcome, changes map[string]audit.Change) error {
	e := audit.By(a.principal)
	e.Action, e.Resource, e.ResourceID, e.Outcome, e.Changes = action, a.info.Resource, id, outcome, changes
	return audit.Write(ctx, db, e)
}

// past turns a verb ("request.create") into the action of an audit entry ("request.created").
func (i *Info) past(verb string) string {
	if irregular, ok := i.Past[verb]; ok || strings.HasSuffix(verb, ".read") {
		return cmp.Or(irregular, verb)
	}
	return strings.TrimSuffix(verb, "e") + "ed"
}
