package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/ent/incident"
	"atrium/ent/phasevisit"
	"atrium/ent/predicate"
	"atrium/internal/op"
)

// byHand gives the chosen visits that were left at an incident what somebody has given for their phases there, and leaves out those for which
// nobody has given anything, and those before them of the same phase, whose values are replaced.
func byHand(ctx context.Context, db *ent.Client, chosen map[string][]*ent.PhaseVisit) error {
	left := map[visited]*ent.PhaseVisit{}
	var of []predicate.Incident
	for _, visits := range chosen {
		for _, v := range visits {
			at := visited{v.ExecutionID, v.Number}
			if v.Status == phasevisit.StatusSKIPPED && left[at] == nil {
				left[at] = v
				of = append(of, incident.And(incident.ExecutionID(v.ExecutionID), incident.Visit(v.Number)))
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	rows, err := db.Incident.Query().Where(incident.Or(of...), incident.VariablesNotNil()).Order(incident.ByCreatedAt(), incident.ByID()).
		Select(incident.FieldExecutionID, incident.FieldVisit, incident.FieldVariables).All(ctx)
	if err != nil {
		return fmt.Errorf("read what was given at incidents: %w", err)
	}
	given := map[visited]json.RawMessage{}
	for _, row := range rows {
		at := visited{row.ExecutionID, row.Visit}
		var phases map[string]json.RawMessage
		if err := decode(row.Variables, &phases); err != nil {
			return fmt.Errorf("read what was given at %s: %w", row.ID, err)
		}
		if raw := phases[left[at].PhaseID]; raw != nil {
			given[at] = raw
		}
	}
	for id, visits := range chosen {
		chosen[id] = withGiven(visits, given)
	}
	return nil
}

// visited is a visit of an execution, by its number.
type visited struct {
	execution string
	number    int
}

func withGiven(visits []*ent.PhaseVisit, given map[visited]json.RawMessage) (out []*ent.PhaseVisit) {
	for _, v := range visits {
		if v.Status == phasevisit.StatusSKIPPED {
			raw := given[visited{v.ExecutionID, v.Number}]
			if raw == nil {
				continue
			}
			v.Output = raw
		}
		out = slices.DeleteFunc(out, func(o *ent.PhaseVisit) bool {
			return o.PhaseID == v.PhaseID && op.Or(o.Branch, "") == op.Or(v.Branch, "")
		})
		out = append(out, v)
	}
	return out
}
