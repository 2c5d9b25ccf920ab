package request

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/events"
)

// emit writes an event about the request as it is after the change.
func emit(ctx context.Context, tx *op.Tx, event string, r *ent.Request, cause events.Cause) error {
	return tx.EmitAs(ctx, events.Event{Name: event, SubjectID: r.ID, Cause: cause, Data: dataOf(r)})
}

// dataOf returns what events tell of a request.
func dataOf(r *ent.Request) events.Request {
	out := events.Request{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title,
		Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
		Number: r.Number, OfferingID: r.OfferingID, AssigneeID: r.AssigneeID, TeamID: r.TeamID, Tags: r.Tags,
	}
	if out.Tags == nil {
		out.Tags = map[string]string{}
	}
	return out
}

// byTransition are the fields that a transition changes, which has an event of its own.
var byTransition = []string{"status", "acceptedAt", "completedAt", "cancelledAt", "reopenCount"}

// emitUpdated writes the event of a change of other fields than a transition's, if there is one.
func emitUpdated(ctx context.Context, tx *op.Tx, before, after *ent.Request, cause events.Cause) error {
	changed := audit.Diff(before, after)
	if before.Format != after.Format {
		changed["format"] = audit.Change{}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(changed)), func(name string) bool { return slices.Contains(byTransition, name) })
	if len(names) == 0 {
		return nil
	}
	return tx.EmitAs(ctx, events.Event{Name: events.RequestUpdated, SubjectID: after.ID, Cause: cause, Data: events.RequestUpdate{Request: dataOf(after), Changes: names}})
}

// emitFiled writes an event about a request that was filed against an offering, and returns the row as it is afterwards: a
// subscriber of the event may have started the offering's workflow.
func emitFiled(ctx context.Context, tx *op.Tx, event string, r *ent.Request, off *ent.Offering, cause events.Cause) (*ent.Request, error) {
	if err := emit(ctx, tx, event, r, cause); err != nil || off.WorkflowID == nil {
		return r, err
	}
	r, err := tx.Request.Get(tx.Unfiltered(ctx, "the row that was just written"), r.ID)
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return r, nil
}
