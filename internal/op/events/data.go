package events

import (
	"bytes"
	"encoding/json"
	"time"

	"atrium/internal/platform/clock"
)

// Request is the data of request.* events: the request after the change.
type Request struct {
	ID        string `json:"id" doc:"The request."`
	ServiceID string `json:"serviceId" doc:"The service that it was made against."`
	Title     string `json:"title"`
	Status    string `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED"`
	Priority  string `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	CreatedBy string `json:"createdBy" doc:"The user or service account that filed it, or the inbound webhook whose call did."`

	// An event of the release before 2026-12 has none of these.
	Number     int64             `json:"number,omitzero" doc:"Its number in the company."`
	OfferingID string            `json:"offeringId,omitempty" doc:"The offering that it was made against."`
	AssigneeID *string           `json:"assigneeId" nullable:"true" doc:"The user who deals with it, if there is one."`
	TeamID     *string           `json:"teamId" nullable:"true" doc:"The team that deals with it, if there is one."`
	Tags       map[string]string `json:"tags,omitzero" doc:"Texts by key."`
}

// RequestUpdate is the data of request.updated.
type RequestUpdate struct {
	Request

	Changes []string `json:"changes" doc:"The names of the fields that were changed, such as priority; a change of the status has an event of its own."`
}

// RequestComment is the data of request.commented.
type RequestComment struct {
	Request

	CommentID  string `json:"commentId" doc:"The comment."`
	Visibility string `json:"visibility" enum:"public,internal" doc:"Who reads it."`
}

// RequestRating is the data of request.rated.
type RequestRating struct {
	Request

	Satisfaction int `json:"satisfaction" minimum:"1" maximum:"5" doc:"How content the requester is."`
}

// Approval is the data of approval.* events.
type Approval struct {
	ID          string  `json:"id" doc:"The approval."`
	ExecutionID string  `json:"executionId" doc:"The execution that it is part of."`
	RequestID   *string `json:"requestId" nullable:"true" doc:"The request that it is about, if any."`
	PhaseID     string  `json:"phaseId" doc:"The phase of the execution."`
	Title       string  `json:"title"`
	Status      string  `json:"status" enum:"PENDING,APPROVED,REJECTED,EXPIRED"`

	// What the request's own events tell of it. An event of the release before 2026-12, and one without a request, has none of these.
	Number     int64             `json:"number,omitzero" doc:"The request's number in the company."`
	ServiceID  *string           `json:"serviceId" nullable:"true" doc:"The service that the request was made against."`
	OfferingID *string           `json:"offeringId" nullable:"true" doc:"The offering that the request was made against."`
	Priority   string            `json:"priority,omitempty" enum:"LOW,MEDIUM,HIGH,URGENT" doc:"The request's."`
	CreatedBy  string            `json:"createdBy,omitempty" doc:"Who filed the request."`
	AssigneeID *string           `json:"assigneeId" nullable:"true" doc:"The user who deals with the request, if there is one."`
	TeamID     *string           `json:"teamId" nullable:"true" doc:"The team that deals with the request, if there is one."`
	Tags       map[string]string `json:"tags,omitzero" doc:"The request's texts by key."`
}

// Execution is the data of workflow.* events.
type Execution struct {
	ID              string   `json:"id" doc:"The execution."`
	WorkflowID      string   `json:"workflowId"`
	WorkflowVersion int      `json:"workflowVersion"`
	RequestID       *string  `json:"requestId" nullable:"true" doc:"The request that it works on, if any."`
	ServiceID       *string  `json:"serviceId" nullable:"true" doc:"That request's service."`
	Title           string   `json:"title" doc:"The workflow's name."`
	Status          string   `json:"status" enum:"RUNNING,WAITING,COMPLETED,FAILED,CANCELLED"`
	Error           *Failure `json:"error" doc:"What went wrong; null but for workflow.failed."`
}

// Failure says where and why an execution hit an error.
type Failure struct {
	PhaseID *string `json:"phaseId" nullable:"true" doc:"The phase, if it was one."`
	Code    string  `json:"code"`
	Message string  `json:"message"`
}

// Task is the data of task.* events.
type Task struct {
	ID          string  `json:"id" doc:"The task."`
	ExecutionID *string `json:"executionId" nullable:"true" doc:"The execution that it is part of, if any."`
	RequestID   *string `json:"requestId" nullable:"true" doc:"The request that it is about, if any."`
	PhaseID     *string `json:"phaseId" nullable:"true" doc:"The phase of the execution."`
	Title       string  `json:"title"`
	Status      string  `json:"status" enum:"OPEN,IN_PROGRESS,COMPLETED,CANCELLED"`
	AssigneeID  *string `json:"assigneeId" nullable:"true" doc:"The user that it is assigned to, if it is one."`
	TeamID      *string `json:"teamId" nullable:"true" doc:"The team that it is assigned to, if it is one."`
	AgentID     *string `json:"agentId" nullable:"true" doc:"The agent that it is assigned to, if it is one."`
	Outcome     *string `json:"outcome" nullable:"true" doc:"How it was completed."`
}

// SLA is the data of sla.* events: the request whose target it is, and the target.
type SLA struct {
	ID        string  `json:"id" doc:"The request."`
	ServiceID string  `json:"serviceId" doc:"The service that it was made against."`
	Title     string  `json:"title"`
	Status    string  `json:"status" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED"`
	Priority  string  `json:"priority" enum:"LOW,MEDIUM,HIGH,URGENT"`
	CreatedBy string  `json:"createdBy" doc:"The user or service account that filed it, or the inbound webhook whose call did."`
	Target    string  `json:"target" enum:"RESPONSE,RESOLUTION" doc:"Which target."`
	DueAt     string  `json:"dueAt" format:"date-time" doc:"When the target is to be met."`
	State     string  `json:"state" enum:"WARNING,BREACHED"`
	PhaseID   *string `json:"phaseId" nullable:"true" doc:"The phase of the request's execution whose target it is; null for the request's own."`
}

// strictly decodes data into a struct; false if the struct lacks a field for any of it.
func strictly(data []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

// The ids in the examples belong to no rows.
const (
	exampleRequestID   = "req_01k9zexamp1e0f0a0webh00k00"
	exampleServiceID   = "svc_01k9zexamp1e0f0a0webh00k00"
	exampleUserID      = "usr_01k9zexamp1e0f0a0webh00k00"
	exampleExecutionID = "exe_01k9zexamp1e0f0a0webh00k00"
	exampleWorkflowID  = "wf_01k9zexamp1e0f0a0webh00k00"
	exampleTaskID      = "task_01k9zexamp1e0f0a0webh00k00"
	exampleOfferingID  = "off_01k9zexamp1e0f0a0webh00k00"
	exampleTeamID      = "team_01k9zexamp1e0f0a0webh00k00"
	exampleCommentID   = "cmt_01k9zexamp1e0f0a0webh00k00"
	exampleApprovalID  = "apr_01k9zexamp1e0f0a0webh00k00"
)

func exampleRequest(status string) Request {
	return Request{ID: exampleRequestID, ServiceID: exampleServiceID, Title: "A new laptop", Status: status, Priority: "MEDIUM", CreatedBy: exampleUserID,
		Number: 1042, OfferingID: exampleOfferingID, TeamID: new(exampleTeamID), Tags: map[string]string{"site": "berlin"}}
}

func exampleApproval(status string) Approval {
	return Approval{
		ID: exampleApprovalID, ExecutionID: exampleExecutionID, RequestID: new(exampleRequestID), PhaseID: "approve", Title: "Approve the purchase", Status: status,
		Number: 1042, ServiceID: new(exampleServiceID), OfferingID: new(exampleOfferingID), Priority: "MEDIUM", CreatedBy: exampleUserID,
		TeamID: new(exampleTeamID), Tags: map[string]string{"site": "berlin"},
	}
}

func exampleExecution(status string) Execution {
	return Execution{
		ID: exampleExecutionID, WorkflowID: exampleWorkflowID, WorkflowVersion: 3, RequestID: new(exampleRequestID), ServiceID: new(exampleServiceID),
		Title: "Order hardware", Status: status,
	}
}

func exampleFailure() Execution {
	e := exampleExecution("WAITING")
	e.Error = &Failure{PhaseID: new("order"), Code: "call_failed", Message: "The call was answered with 503 four times."}
	return e
}

func exampleTask(status string) Task {
	t := Task{
		ID: exampleTaskID, ExecutionID: new(exampleExecutionID), RequestID: new(exampleRequestID), PhaseID: new("approve"),
		Title: "Choose a model", Status: status, AssigneeID: new(exampleUserID),
	}
	if status == "COMPLETED" {
		t.Outcome = new("next")
	}
	return t
}

func exampleSLA(state string) SLA {
	return SLA{
		ID: exampleRequestID, ServiceID: exampleServiceID, Title: "A new laptop", Status: "PENDING", Priority: "MEDIUM", CreatedBy: exampleUserID,
		Target: "RESPONSE", DueAt: time.Date(2027, 1, 15, 16, 0, 0, 0, time.UTC).Format(clock.Format), State: state,
	}
}
