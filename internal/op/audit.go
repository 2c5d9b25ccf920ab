package op

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"atrium/authz"
	"atrium/ent"
	"atrium/ent/auditentry"
	"atrium/internal/op/audit"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
)

// finish writes the audit entry of an operation that succeeded. A PATCH that changed nothing gets no entry, and neither does an
// operation that called Unaudited; all others get one.
func (tx *Tx) finish(ctx context.Context, out any) error {
	if tx.unaudited {
		return nil
	}
	if strings.HasSuffix(tx.info.Name, ".update") && tx.before != nil && tx.before == tx.after && len(tx.extra) == 0 {
		return nil
	}
	changes := audit.Diff(tx.before, tx.after)
	maps.Copy(changes, tx.extra)
	maps.Copy(changes, cameBy(tx.principal))
	action, id := cmp.Or(tx.action, tx.info.past(tx.verbs[0])), cmp.Or(tx.subject, tx.target, idOf(out))
	return tx.attempt.audit(ctx, tx.Client, action, id, auditentry.OutcomeAllowed, changes)
}

// cameBy returns the changes that record the way of a call: an agent's part in it, and the door if that is told. It returns nil for
// most calls.
func cameBy(p *principal.Principal) map[string]audit.Change {
	var out map[string]audit.Change
	switch c := p.Cause; {
	case c == nil:
	case c.ProposalID != "":
		out = map[string]audit.Change{"proposalId": {To: c.ProposalID}}
	default:
		by := map[string]any{"runId": c.RunID, "stepN": orNull(c.Step), "approvedBy": orNull(c.ApprovedBy), "actionId": orNull(c.ActionID)}
		out = map[string]audit.Change{"agent": {To: by}}
	}
	if p.Via != "" {
		if out == nil {
			out = map[string]audit.Change{}
		}
		out["via"] = audit.Change{To: p.Via}
	}
	return out
}

// orNull returns nil for the zero value.
func orNull[T comparable](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

// failed turns the error that stopped the operation into an *apperr.Error, and audits denials and conflicts.
func (a *attempt) failed(ctx context.Context, err error) error {
	out := a.public(err)
	var outcome auditentry.Outcome
	switch out.Code {
	case apperr.Forbidden:
		outcome = auditentry.OutcomeDenied
	case apperr.Conflict, apperr.PreconditionFailed:
		outcome = auditentry.OutcomeFailed
	default:
		return out
	}
	if p := a.principal; p.CompanyID == "" {
		return out
	}
	if out.Code == apperr.Forbidden {
		a.refusedBy(out)
	}
	// A caller who closes the connection must not keep the refusal out of the log.
	werr := a.engine.Store.WriteDetached(ctx, func(ctx context.Context, tx *store.Tx) error {
		if out.Code == apperr.Forbidden {
			if err := a.record(ctx, out.DecisionID, false).Write(ctx, tx.Client); err != nil {
				return err
			}
		}
		return a.audit(ctx, tx.Client, a.info.past(a.verbs[0]), a.subjectID(), outcome, cameBy(a.principal))
	})
	if werr != nil {
		// The refusal stands even when its entry cannot be written, but the operator must know.
		a.engine.Log.ErrorContext(ctx, "audit entry of a refusal was not written", "error", werr, "action", a.verbs[0])
	}
	return out
}

// refusedBy gives a refusal a decision id and, when the operation's own rule refused, records that rule as the reason.
func (a *attempt) refusedBy(out *apperr.Error) {
	if out.DecisionID == "" {
		out.DecisionID = id.New("dec")
	}
	if a.decision.Allow {
		a.decision = authz.Decision{By: authz.By{Kind: "operation", ID: cmp.Or(out.Reason, a.info.Name)}}
		a.asked, a.row = "", authz.Row{}
	}
}

// subjectID returns the id of the resource that a refused call was about. It is empty for a create or a list, because the
// id that these name belongs to another kind of resource: a new offering names its service.
func (a *attempt) subjectID() string {
	if a.info.Action == Create || a.info.lists() {
		return ""
	}
	return a.target
}

// audit writes an entry for this attempt: the action, the id of the row (empty for none), the outcome and the changes.
func (a *attempt) audit(ctx context.Context, db *ent.Client, action, id string, outcome auditentry.Outcome, changes map[string]audit.Change) error {
	e := audit.By(a.principal)
	e.Action, e.Resource, e.ResourceID, e.Outcome, e.Changes = action, a.info.Resource, id, outcome, changes
	return audit.Write(ctx, db, e)
}

// Note writes another audit entry, under the transaction's principal, about a further row that the operation has changed.
func (tx *Tx) Note(ctx context.Context, action, resource, id string, changes map[string]audit.Change) error {
	e := audit.By(tx.principal)
	e.Action, e.Resource, e.ResourceID, e.Changes = action, resource, id, changes
	return audit.Write(ctx, tx.Client, e)
}

// past turns a verb ("request.create") into the action of an audit entry ("request.created").
func (i *Info) past(verb string) string {
	if irregular, ok := i.Past[verb]; ok || strings.HasSuffix(verb, ".read") {
		return cmp.Or(irregular, verb)
	}
	return strings.TrimSuffix(verb, "e") + "ed"
}
