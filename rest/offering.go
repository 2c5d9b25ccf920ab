package rest

import (
	"atrium/ent"
	"atrium/internal/form"
)

// Offering is an offering as answers show it.
type Offering struct {
	ID          string            `json:"id" example:"off_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ServiceID   string            `json:"serviceId" example:"svc_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Name        string            `json:"name" example:"New laptop"`
	Slug        string            `json:"slug" doc:"Unique in the service." example:"new-laptop"`
	Description *string           `json:"description" example:"A laptop, set up and delivered"`
	Status      string            `json:"status" enum:"active,inactive"`
	Form        *form.Definition  `json:"form"`
	WorkflowID  *string           `json:"workflowId" example:"wf_01k9ye4ryzf7stj6dqnm8x2v3b"`
	SLA         *OfferingSLA      `json:"sla"`
	Tags        map[string]string `json:"tags" example:"{\"site\": \"berlin\"}"`
	CreatedAt   Time              `json:"createdAt"`
	UpdatedAt   Time              `json:"updatedAt"`
}

// OfferingSLA are the service levels of an offering.
type OfferingSLA struct {
	ResponseMinutes   *int    `json:"responseMinutes" example:"60"`
	ResolutionMinutes *int    `json:"resolutionMinutes" example:"480"`
	WarnAtPercent     *int    `json:"warnAtPercent" example:"80"`
	CalendarID        *string `json:"calendarId" example:"cal_01k9ye4ryzf7stj6dqnm8x2v3b"`
}

func offeringOut(o *ent.Offering) Offering {
	out := Offering{
		ID: o.ID, ServiceID: o.ServiceID, Name: o.Name, Slug: o.Slug, Description: textOrNil(o.Description), Status: string(o.Status),
		Form: o.Form, WorkflowID: o.WorkflowID, Tags: tagsOut(o.Tags), CreatedAt: at(o.CreatedAt), UpdatedAt: at(o.UpdatedAt),
	}
	if o.ResponseMinutes != nil || o.ResolutionMinutes != nil || o.WarnAtPercent != nil || o.CalendarID != nil {
		out.SLA = &OfferingSLA{
			ResponseMinutes: o.ResponseMinutes, ResolutionMinutes: o.ResolutionMinutes,
			WarnAtPercent: o.WarnAtPercent, CalendarID: o.CalendarID,
		}
	}
	return out
}
