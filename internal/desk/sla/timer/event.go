package timer

import (
	"context"

	"atrium/ent"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/op/audit"
	"atrium/internal/op/events"
	"atrium/internal/platform/clock"
)

// Emit emits the event for a target of a request, or of one of its phases, that is close to its deadline or has missed it.
// It writes the audit entry of that name.
func Emit(ctx context.Context, tx *op.Tx, r *ent.Request, f sla.Firing, phaseID *string, cause events.Cause) error {
	name, state := EventOf(f), sla.InWarning
	if f.Kind == sla.Breached {
		state = sla.Late
	}
	due := Stored(f.DueAt).Format(clock.Format)
	err := tx.EmitAs(ctx, events.Event{Name: name, SubjectID: r.ID, Cause: cause, Data: events.SLA{
		ID: r.ID, ServiceID: r.ServiceID, Title: r.Title, Status: string(r.Status), Priority: string(r.Priority), CreatedBy: r.CreatedBy,
		Target: string(f.Target), DueAt: due, State: string(state), PhaseID: phaseID,
	}})
	if err != nil {
		return err
	}
	changes := map[string]audit.Change{"target": {To: string(f.Target)}, "dueAt": {To: due}}
	if phaseID != nil {
		changes["phaseId"] = audit.Change{To: *phaseID}
	}
	return tx.Note(ctx, name, "Request", r.ID, changes)
}

// EventOf returns the name of the event for a warning or a breach.
func EventOf(f sla.Firing) string {
	if f.Kind == sla.Breached {
		return events.SLABreached
	}
	return events.SLAWarning
}
