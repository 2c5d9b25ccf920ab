package catalog

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/calendar"
	"atrium/ent/offering"
	"atrium/ent/team"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
	"atrium/internal/workflow"
)

// SLA holds the service levels of an offering; levels that are not set are null.
type SLA struct {
	ResponseMinutes   *int             `json:"responseMinutes,omitempty" nullable:"true" minimum:"1" maximum:"525600" doc:"Minutes until a request should have its first response: a public comment of staff or of an agent, or the acceptance."`
	ResolutionMinutes *int             `json:"resolutionMinutes,omitempty" nullable:"true" minimum:"1" maximum:"525600" doc:"Minutes until a request should be completed."`
	WarnAtPercent     op.Patch[int]    `json:"warnAtPercent,omitzero" nullable:"true" minimum:"0" maximum:"99" doc:"When to warn, as a share of the time: 80 when not given or null, not at all for 0."`
	CalendarID        *string          `json:"calendarId,omitempty" nullable:"true" maxLength:"64" doc:"The calendar whose working hours count; all hours count without one."`
	ByPriority        *sla.ByPriority  `json:"byPriority,omitempty" doc:"Targets of requests of a priority, in place of those of all."`
	Escalations       []sla.Escalation `json:"escalations,omitempty" nullable:"true" maxItems:"20" doc:"What is done about requests that are not dealt with in time."`
}

// checkSLA records faults that the fields' tags cannot express: ids that are no rows, and contradictory
// escalations.
func checkSLA(ctx context.Context, tx *op.Tx, refs *op.Refs, in SLA) {
	refs.Check("sla.calendarId", in.CalendarID, "calendar", op.FindShared(ctx, tx, func(id string) *ent.CalendarQuery {
		return tx.Calendar.Query().Where(calendar.ID(id))
	}))
	seen := map[string]bool{}
	for i, e := range in.Escalations {
		field := fmt.Sprintf("sla.escalations[%d]", i)
		switch {
		case seen[e.Key()]:
			refs.Fault(field, "must not be there twice")
		case e.Do == sla.Reassign && e.TeamID == nil:
			refs.Fault(field+".teamId", "is required: it says whom the request is given to")
		case e.Do == sla.Raise && e.TeamID != nil:
			refs.Fault(field+".teamId", "must be null: raising a priority takes no team")
		}
		seen[e.Key()] = true
		refs.Check(field+".teamId", e.TeamID, "team", op.FindShared(ctx, tx, func(id string) *ent.TeamQuery {
			return tx.Team.Query().Where(team.ID(id))
		}))
	}
}

// unmet returns a fault when the calendar has too little working time for the largest of the levels.
func (in *SLA) unmet(ctx context.Context, tx *op.Tx) (faults, error) {
	if in == nil || in.CalendarID == nil {
		return nil, nil
	}
	largest := sla.Levels{
		Targets: sla.Targets{ResponseMinutes: in.ResponseMinutes, ResolutionMinutes: in.ResolutionMinutes}, ByPriority: in.ByPriority, Escalations: in.Escalations,
	}.Largest()
	return workflow.Unmet(ctx, tx, *in.CalendarID, "sla.calendarId", largest)
}

// setSLA sets the given service levels in a mutation.
func setSLA(m *ent.OfferingMutation, in SLA) {
	if in.CalendarID != nil {
		m.SetCalendarID(*in.CalendarID)
	}
	if in.ResponseMinutes != nil {
		m.SetResponseMinutes(*in.ResponseMinutes)
	}
	if in.ResolutionMinutes != nil {
		m.SetResolutionMinutes(*in.ResolutionMinutes)
	}
	byPriority := in.ByPriority != nil && *in.ByPriority != (sla.ByPriority{})
	if percent := in.WarnAtPercent.Value(); percent != nil {
		m.SetWarnAtPercent(*percent)
	} else if in.ResponseMinutes != nil || in.ResolutionMinutes != nil || byPriority {
		m.SetWarnAtPercent(sla.UsualWarning)
	}
	if byPriority {
		m.SetSLAByPriority(in.ByPriority)
	}
	if len(in.Escalations) > 0 {
		m.SetSLAEscalations(in.Escalations)
	}
}

// replaceSLA is setSLA for an offering that may have levels already: it clears levels that are not given.
func replaceSLA(m *ent.OfferingMutation, in SLA) {
	setSLA(m, in)
	for column, unset := range map[string]func(){
		offering.FieldCalendarID: m.ClearCalendarID, offering.FieldResponseMinutes: m.ClearResponseMinutes,
		offering.FieldResolutionMinutes: m.ClearResolutionMinutes, offering.FieldWarnAtPercent: m.ClearWarnAtPercent,
		offering.FieldSLAByPriority: m.ClearSLAByPriority, offering.FieldSLAEscalations: m.ClearSLAEscalations,
	} {
		if _, set := m.Field(column); !set {
			unset() // clear only what was not set: PostgreSQL refuses to assign to a column twice
		}
	}
}

// HasSLA reports whether anything of an offering's service levels is set.
func HasSLA(o *ent.Offering) bool {
	return o.ResponseMinutes != nil || o.ResolutionMinutes != nil || o.WarnAtPercent != nil || o.CalendarID != nil ||
		o.SLAByPriority != nil || len(o.SLAEscalations) > 0
}
