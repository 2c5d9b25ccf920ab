package rest

import "atrium/ent"

// Request is a request as answers show it.
type Request struct {
	ID          string            `json:"id"`
	ServiceID   string            `json:"serviceId"`
	OfferingID  string            `json:"offeringId"`
	Title       string            `json:"title"`
	Description *string           `json:"description"`
	Status      string            `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED"`
	Priority    string            `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	Fields      Object            `json:"fields" doc:"The answers to the offering's form, by field key."`
	Tags        map[string]string `json:"tags"`
	CreatedBy   string            `json:"createdBy" doc:"The user or service account that filed it."`
	AssigneeID  *string           `json:"assigneeId"`
	TeamID      *string           `json:"teamId"`
	ExecutionID *string           `json:"executionId" doc:"The workflow execution that processes it."`
	AcceptedAt  *Time             `json:"acceptedAt"`
	CompletedAt *Time             `json:"completedAt"`
	CancelledAt *Time             `json:"cancelledAt"`
	SLA         *RequestSLA       `json:"sla" doc:"Where the request stands against its service levels."`
	CreatedAt   Time              `json:"createdAt"`
	UpdatedAt   Time              `json:"updatedAt"`
}

// RequestSLA is where a request stands against its service levels.
type RequestSLA struct {
	ResponseDueAt   *Time  `json:"responseDueAt"`
	ResolutionDueAt *Time  `json:"resolutionDueAt"`
	State           string `json:"state" enum:"ON_TRACK,WARNING,BREACHED,MET,PAUSED"`
}

func requestOut(r *ent.Request) Request {
	return Request{
		ID: r.ID, ServiceID: r.ServiceID, OfferingID: r.OfferingID, Title: r.Title, Description: textOrNil(r.Description),
		Status: string(r.Status), Priority: string(r.Priority), Fields: objectOut(r.Fields), Tags: tagsOut(r.Tags), CreatedBy: r.CreatedBy,
		AssigneeID: r.AssigneeID, TeamID: r.TeamID,
		AcceptedAt: atOrNil(r.AcceptedAt), CompletedAt: atOrNil(r.CompletedAt), CancelledAt: atOrNil(r.CancelledAt),
		CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}
}
