package rest

import (
	"atrium/ent"
	"atrium/internal/desk/sla"
)

// Request is a request as answers show it.
type Request struct {
	ID            string            `json:"id" example:"req_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ServiceID     string            `json:"serviceId" example:"svc_01k9ye4ryzf7stj6dqnm8x2v3b"`
	OfferingID    string            `json:"offeringId" example:"off_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Title         string            `json:"title" example:"Laptop for a new colleague"`
	Description   *string           `json:"description" example:"She starts on Monday."`
	Status        string            `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED"`
	Priority      string            `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT" example:"MEDIUM"`
	Fields        Object            `json:"fields" doc:"The answers to the offering's form, by field key." example:"{\"model\": \"14 inch\", \"memory\": 32}"`
	Tags          map[string]string `json:"tags" example:"{\"site\": \"berlin\"}"`
	CreatedBy     string            `json:"createdBy" doc:"The user or service account that filed it, or the inbound webhook whose call did." example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	AssigneeID    *string           `json:"assigneeId" example:"usr_01k9ye4ryzf7stj6dqnm8x2v3b"`
	TeamID        *string           `json:"teamId" example:"team_01k9ye4ryzf7stj6dqnm8x2v3b"`
	ExecutionID   *string           `json:"executionId" doc:"The workflow execution that processes it." example:"exe_01k9ye4ryzf7stj6dqnm8x2v3b"`
	RoutingRuleID *string           `json:"routingRuleId" doc:"The routing rule that held when it was filed, which may be gone." example:"rul_01k9ye4ryzf7stj6dqnm8x2v3b"`
	Waiting       bool              `json:"waiting" doc:"Whether the requester owes an answer. The clock of the resolution stands still."`
	SnoozedUntil  *Time             `json:"snoozedUntil" doc:"Until when nobody wants to see it in the inbox."`
	AcceptedAt    *Time             `json:"acceptedAt"`
	CompletedAt   *Time             `json:"completedAt"`
	CancelledAt   *Time             `json:"cancelledAt"`
	DeclineReason *string           `json:"declineReason" doc:"Why it was declined." example:"We have none left."`
	SLA           *RequestSLA       `json:"sla" doc:"Where the request stands against its service levels."`
	CreatedAt     Time              `json:"createdAt"`
	UpdatedAt     Time              `json:"updatedAt"`
}

// RequestSLA is where a request, or a task, stands against its service levels.
type RequestSLA struct {
	ResponseDueAt   *Time  `json:"responseDueAt" doc:"Null when there is no such target." example:"2026-03-02T10:30:00.000Z"`
	ResolutionDueAt *Time  `json:"resolutionDueAt" doc:"Null when there is no such target, and while the clock stands still." example:"2026-03-02T17:30:00.000Z"`
	State           string `json:"state" enum:"ON_TRACK,WARNING,BREACHED,MET,PAUSED"`
}

func requestOut(r *ent.Request) Request {
	return Request{
		ID: r.ID, ServiceID: r.ServiceID, OfferingID: r.OfferingID, Title: r.Title, Description: textOrNil(r.Description),
		Status: string(r.Status), Priority: string(r.Priority), Fields: objectOut(r.Fields), Tags: tagsOut(r.Tags), CreatedBy: r.CreatedBy,
		AssigneeID: r.AssigneeID, TeamID: r.TeamID, ExecutionID: r.ExecutionID, RoutingRuleID: r.RoutingRuleID,
		Waiting: r.Waiting, SnoozedUntil: atOrNil(r.SnoozedUntil), SLA: slaOut(sla.StatusOf(r.SLAState, r.ResponseDueAt, r.ResolutionDueAt)),
		AcceptedAt: atOrNil(r.AcceptedAt), CompletedAt: atOrNil(r.CompletedAt), CancelledAt: atOrNil(r.CancelledAt), DeclineReason: r.DeclineReason,
		CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}
}

// slaOut returns nil when there are no service levels.
func slaOut(s *sla.Standing) *RequestSLA {
	if s == nil {
		return nil
	}
	return &RequestSLA{ResponseDueAt: atOrNil(s.ResponseDueAt), ResolutionDueAt: atOrNil(s.ResolutionDueAt), State: s.State}
}
