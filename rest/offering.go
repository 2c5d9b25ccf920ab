package rest

import (
	"atrium/ent"
	"atrium/internal/form"
)

// Offering is an offering as answers show it.
type Offering struct {
	ID          string            `json:"id"`
	ServiceID   string            `json:"serviceId"`
	Name        string            `json:"name"`
	Slug        string            `json:"slug" doc:"Unique in the service."`
	Description *string           `json:"description"`
	Status      string            `json:"status" enum:"active,inactive"`
	Form        *form.Definition  `json:"form"`
	WorkflowID  *string           `json:"workflowId"`
	SLA         *OfferingSLA      `json:"sla"`
	Tags        map[string]string `json:"tags"`
	CreatedAt   Time              `json:"createdAt"`
	UpdatedAt   Time              `json:"updatedAt"`
}

// OfferingSLA are the service levels of an offering.
type OfferingSLA struct {
	ResponseMinutes   *int    `json:"responseMinutes"`
	ResolutionMinutes *int    `json:"resolutionMinutes"`
	WarnAtPercent     *int    `json:"warnAtPercent"`
	CalendarID        *string `json:"calendarId"`
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
