package timer

import (
	"atrium/ent"
	"atrium/ent/offering"
	"atrium/internal/desk/sla"
	"atrium/internal/op"
)

// LevelColumns are the columns that LevelsOf reads, with those by which the offering is told.
var LevelColumns = []string{
	offering.FieldID, offering.FieldCompanyID, offering.FieldName, offering.FieldResponseMinutes, offering.FieldResolutionMinutes,
	offering.FieldWarnAtPercent, offering.FieldCalendarID, offering.FieldSLAByPriority, offering.FieldSLAEscalations,
}

// LevelsOf returns the service levels of an offering.
func LevelsOf(o *ent.Offering) sla.Levels {
	return sla.Levels{
		Targets:       sla.Targets{ResponseMinutes: o.ResponseMinutes, ResolutionMinutes: o.ResolutionMinutes},
		WarnAtPercent: op.Or(o.WarnAtPercent, sla.UsualWarning), CalendarID: op.Or(o.CalendarID, ""), ByPriority: o.SLAByPriority, Escalations: o.SLAEscalations,
	}
}
