package rest

import (
	"atrium/ent"
	"atrium/internal/desk/catalog"
	"atrium/internal/desk/form"
	"atrium/internal/desk/sla"
)

// OfferingSLA are the service levels of an offering.
type OfferingSLA struct {
	ResponseMinutes   *int            `json:"responseMinutes" example:"60"`
	ResolutionMinutes *int            `json:"resolutionMinutes" example:"480"`
	WarnAtPercent     *int            `json:"warnAtPercent" example:"80"`
	CalendarID        *string         `json:"calendarId" example:"cal_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ByPriority        *SLAByPriority  `json:"byPriority" doc:"Targets of requests of a priority, in place of those of all."`
	Escalations       []SLAEscalation `json:"escalations" doc:"What is done about requests that are not dealt with in time."`
}

// SLAByPriority are targets by priority.
type SLAByPriority struct {
	Low    *SLATargets `json:"LOW"`
	Medium *SLATargets `json:"MEDIUM"`
	High   *SLATargets `json:"HIGH"`
	Urgent *SLATargets `json:"URGENT"`
}

// SLATargets are targets of requests of one priority.
type SLATargets struct {
	ResponseMinutes   *int `json:"responseMinutes" example:"15"`
	ResolutionMinutes *int `json:"resolutionMinutes" example:"120"`
}

// SLAEscalation is an action for a request that is not handled in time.
type SLAEscalation struct {
	AfterMinutes int     `json:"afterMinutes" doc:"How far the clock of the target has come." example:"90"`
	Of           string  `json:"of" enum:"response,resolution"`
	Do           string  `json:"do" enum:"notify,reassign,raise"`
	TeamID       *string `json:"teamId" example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func offeringSLAOut(o *ent.Offering) *OfferingSLA {
	if !catalog.HasSLA(o) {
		return nil
	}
	out := &OfferingSLA{
		ResponseMinutes: o.ResponseMinutes, ResolutionMinutes: o.ResolutionMinutes,
		WarnAtPercent: o.WarnAtPercent, CalendarID: o.CalendarID, Escalations: []SLAEscalation{},
	}
	if b := o.SLAByPriority; b != nil {
		out.ByPriority = &SLAByPriority{Low: targetsOut(b.LOW), Medium: targetsOut(b.MEDIUM), High: targetsOut(b.HIGH), Urgent: targetsOut(b.URGENT)}
	}
	for _, e := range o.SLAEscalations {
		out.Escalations = append(out.Escalations, SLAEscalation{AfterMinutes: e.AfterMinutes, Of: e.Of, Do: e.Do, TeamID: e.TeamID})
	}
	return out
}

func targetsOut(t *sla.Targets) *SLATargets {
	if t == nil {
		return nil
	}
	return &SLATargets{ResponseMinutes: t.ResponseMinutes, ResolutionMinutes: t.ResolutionMinutes}
}

func offeringFormOut(o *ent.Offering) *form.Definition { return o.Form }
