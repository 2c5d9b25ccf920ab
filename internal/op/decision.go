package op

import (
	"context"

	"atrium/authz"
	"atrium/internal/op/decisionlog"
)

// sample offers the decision of an allowed call to the decision log. Lists are not sampled: they
// decide about no single row.
func (a *attempt) sample(ctx context.Context) {
	if d := a.engine.Decisions; d != nil && a.set != nil && (a.asked != "" || a.target != "") {
		d.Offer(func() decisionlog.Entry { return a.record(ctx, "", true) })
	}
}

// record returns the decision as a log entry, with the input that the policies saw.
func (a *attempt) record(ctx context.Context, id string, allowed bool) decisionlog.Entry {
	by := a.decision.By
	d := decisionlog.Entry{
		ID: id, Who: a.principal, Verb: a.verbs[0], Action: string(a.info.Action), Resource: a.info.Resource, Row: a.subjectID(),
		Allowed: allowed, Bundle: a.engine.Authz.Bundle(),
	}
	if a.set != nil {
		d.Policies = a.set.Version()
	}
	if a.asked != "" {
		d.Action, d.Resource, d.Row = string(a.asked), a.row.Resource, a.row.ID
		if allowed {
			by = a.allowedBy
		}
	}
	caller := a.caller
	if caller == nil {
		caller = &authz.Caller{Principal: a.principal, Time: a.engine.Store.Clock().Now()}
	}
	d.Kind, d.By, d.At = by.Kind, by.ID, caller.Time
	d.Input = caller.Document()
	if doc := a.row.Document(); doc != nil {
		d.Input["resource"] = decisionlog.Short(doc)
	}
	return d
}
