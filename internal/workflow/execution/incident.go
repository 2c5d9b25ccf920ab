package execution

import (
	"context"
	"fmt"
	"maps"

	"atrium/ent"
	"atrium/ent/execution"
	"atrium/ent/incident"
	"atrium/internal/desk/form"
	"atrium/internal/desk/lifecycle"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
	"atrium/internal/workflow/definition"
	"atrium/internal/workflow/engine"
)

var incidentSorts = op.Sorts{"createdAt": incident.FieldCreatedAt, "updatedAt": incident.FieldUpdatedAt}

// The operations on incidents.
var (
	ListIncidents = paging.NewList("incident.list", op.Spec{
		Resource: "Incident", Action: op.Read, Scope: "workflows:read", Sorts: incidentSorts, Summary: "List incidents",
	}, incidentsOf)

	GetIncident = op.Get("incident.read", op.Spec{
		Resource: "Incident", Action: op.Read, Scope: "workflows:read", Summary: "Get an incident",
	}, loadIncident)

	ResolveIncident = op.OnRow("incident.resolve", op.Spec{
		Resource: "Incident", Action: op.Update, Scope: "workflows:write", Summary: "Retry or skip the phase of an incident, or move its execution to another version",
	}, loadIncident, resolveIncident).Prepared(prepareResolution)
)

// ListIncidentsInput filters and pages the list.
type ListIncidentsInput struct {
	paging.Page
	Status      []string `json:"-" query:"status" enum:"OPEN,RESOLVED"`
	ExecutionID []string `json:"-" query:"executionId" maxLength:"64"`
}

func incidentsOf(_ context.Context, tx *op.Tx, in ListIncidentsInput) *ent.IncidentQuery {
	where := paging.In(nil, in.Status, incident.StatusIn)
	where = paging.In(where, in.ExecutionID, incident.ExecutionIDIn)
	return tx.Incident.Query().Where(where...)
}

func loadIncident(ctx context.Context, tx *op.Tx, id string) (*ent.Incident, error) {
	return op.Lock(tx, tx.Incident.Query().Where(incident.ID(id))).Only(ctx)
}

// ResolveIncidentInput says how to resolve an incident.
type ResolveIncidentInput struct {
	op.ByID
	Action    string            `json:"action" enum:"RETRY,SKIP,MOVE" doc:"RETRY enters the phase again; SKIP leaves it by next, a DECISION by its default; MOVE goes on in another published version."`
	Version   *int              `json:"version,omitempty" nullable:"true" minimum:"1" doc:"For MOVE: the published version of the workflow."`
	PhaseID   *string           `json:"phaseId,omitempty" nullable:"true" maxLength:"63" doc:"For MOVE: the phase of that version in which the execution goes on; the incident's own when not given."`
	Variables strictjson.Object `json:"variables,omitempty" nullable:"true" doc:"What phases.<id> of the incident's phase holds from now on, whole: an object with its id."`
}

// resolution is the result of checking a resolution against the definition, before the transaction.
type resolution struct {
	faults  []apperr.Detail
	phaseID string            // of a MOVE: where the execution continues
	passed  []Passed          // what it leaves out of what people do
	written strictjson.Object // the variables without the company's secrets, as they are stored
}

func prepareResolution(ctx context.Context, tx *op.Tx, in ResolveIncidentInput) (any, error) {
	i, err := tx.Incident.Get(ctx, in.ID)
	if ent.IsNotFound(err) {
		return nil, nil // the operation reports the missing row
	}
	if err != nil {
		return nil, fmt.Errorf("read the incident: %w", err)
	}
	e, err := tx.Execution.Get(ctx, i.ExecutionID)
	if err != nil {
		return nil, fmt.Errorf("read the execution: %w", err)
	}
	var r resolution
	var d *definition.Definition
	err = tx.Costly(ctx, func(ctx context.Context) (err error) {
		d, err = r.definition(ctx, tx.Client, e, i, in)
		return err
	})
	if err != nil || d == nil {
		return r, err
	}
	if p := d.Phase(i.PhaseID); in.Action == string(incident.ResolutionSKIP) && p != nil && p.Follow(p.Skip()) == nil {
		r.faults = append(r.faults, apperr.Detail{Field: "action", Message: "The phase has no way out named next, so it cannot be skipped."})
	}
	for id, v := range in.Variables {
		if _, object := v.(map[string]any); d.Phase(id) == nil || id != i.PhaseID || !object {
			r.faults = append(r.faults, apperr.Detail{Field: "variables", Message: "must hold one object, by the id of the incident's phase: " + i.PhaseID})
			break
		}
	}
	r.faults = append(r.faults, underVariables(form.ValidateWithoutForm(in.Variables))...)
	if len(r.faults) > 0 {
		return r, nil
	}
	if r.written, err = hidden(ctx, tx, in.Variables); err != nil {
		return nil, err
	}
	if r.passed, err = passedBy(ctx, tx, e, d, i, r.phaseID, in.Action); err == nil && len(r.written) > 0 {
		err = r.bound(e, i, r.written)
	}
	return r, err
}

// bound checks that the variables of all phases, with the given ones, stay within the limit.
func (r *resolution) bound(e *ent.Execution, i *ent.Incident, variables map[string]any) error {
	s, err := readState(e.State)
	if err != nil {
		return err
	}
	at := s.At(i.Visit)
	if at == nil {
		return nil // it has gone on, which the operation reports
	}
	if at.Phases == nil {
		at.Phases = map[string]any{}
	}
	maps.Copy(at.Phases, variables)
	n, err := s.Size()
	if err != nil {
		return err
	}
	if n > engine.MaxVariables {
		r.faults = append(r.faults, apperr.Detail{Field: "variables", Message: fmt.Sprintf("would make the variables of all phases longer than %d bytes", engine.MaxVariables)})
	}
	return nil
}

// definition returns the definition by which the execution continues; nil, with a fault, when there is
// none.
func (r *resolution) definition(ctx context.Context, db *ent.Client, e *ent.Execution, i *ent.Incident, in ResolveIncidentInput) (*definition.Definition, error) {
	if in.Action != string(incident.ResolutionMOVE) {
		if in.Version != nil {
			r.faults = append(r.faults, apperr.Detail{Field: "version", Message: "is for MOVE alone"})
		}
		if in.PhaseID != nil {
			r.faults = append(r.faults, apperr.Detail{Field: "phaseId", Message: "is for MOVE alone"})
		}
		return versionOf(ctx, db, e.WorkflowID, e.WorkflowVersion)
	}
	if in.Version == nil {
		r.faults = append(r.faults, apperr.Detail{Field: "version", Message: "is required to MOVE"})
		return nil, nil
	}
	t, phaseID, fault, err := targetOf(ctx, db, e, i, *in.Version, op.Or(in.PhaseID, ""))
	if err != nil {
		return nil, err
	}
	if fault != nil {
		r.faults = append(r.faults, *fault)
		return nil, nil
	}
	r.phaseID = phaseID
	return t.d, nil
}

func resolveIncident(ctx context.Context, tx *op.Tx, i *ent.Incident, in ResolveIncidentInput) (*ent.Incident, error) {
	r, ok := op.Preparation[resolution](tx)
	if !ok {
		return nil, op.ErrOutdated
	}
	if i.Status != incident.StatusOPEN {
		return nil, apperr.New(apperr.Conflict, "The incident is resolved.")
	}
	if len(r.faults) > 0 {
		return nil, apperr.Invalid(r.faults...)
	}
	for _, p := range r.passed {
		if !p.MayDecide {
			return nil, apperr.New(apperr.Forbidden, "This leaves out the phase %q, on which you may not decide.", p.PhaseID)
		}
	}
	u := i.Update().SetStatus(incident.StatusRESOLVED).SetResolution(incident.Resolution(in.Action)).SetResolvedBy(tx.Principal().ID).SetResolvedAt(tx.Now(ctx))
	if r.phaseID != "" {
		u.SetToVersion(*in.Version).SetToPhaseID(r.phaseID)
	}
	if len(r.written) > 0 {
		raw, err := encode(r.written)
		if err != nil {
			return nil, err
		}
		u.SetVariables(raw)
	}
	after, err := u.Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("resolve the incident: %w", err)
	}
	tx.Changed(i, after)
	live, err := tx.Execution.Query().Where(execution.ID(i.ExecutionID), lifecycle.OpenExecutions()).
		Exist(tx.Unfiltered(ctx, "whether it waits is no matter of what the caller sees"))
	if err != nil {
		return nil, fmt.Errorf("look the execution up: %w", err)
	}
	if !live {
		return nil, apperr.New(apperr.Conflict, "The execution has ended.")
	}
	return after, insertStep(ctx, tx, i.ExecutionID)
}
