package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"atrium/internal/platform/clock"
)

// The events.
const (
	RequestCreated    = "request.created"
	RequestAccepted   = "request.accepted"
	RequestCompleted  = "request.completed"
	RequestCancelled  = "request.cancelled"
	RequestReopened   = "request.reopened"
	RequestMoved      = "request.moved"
	RequestUpdated    = "request.updated"
	RequestCommented  = "request.commented"
	RequestRated      = "request.rated"
	WorkflowStarted   = "workflow.started"
	WorkflowCompleted = "workflow.completed"
	WorkflowFailed    = "workflow.failed"
	TaskAssigned      = "task.assigned"
	TaskCompleted     = "task.completed"
	SLAWarning        = "sla.warning"
	SLABreached       = "sla.breached"
	ApprovalRequested = "approval.requested"
	ApprovalDecided   = "approval.decided"
)

// Kind is one event that subscribers can choose.
type Kind struct {
	Name    string
	Meaning string
	Example any // a value of the type of the event's data
}

// exampleAt is when the examples of payloads happened.
var exampleAt = time.Date(2027, time.January, 15, 10, 0, 0, 0, time.UTC)

// Sample returns the payload of an example.
func (k Kind) Sample() ([]byte, error) {
	return encode(envelope[any]{k.Name, exampleAt.Format(clock.Format), new(int64(1)), k.Example})
}

// All are the events, in the order of the documentation.
var All = []Kind{
	{RequestCreated, "A request was submitted.", exampleRequest("PENDING")},
	{RequestAccepted, "A request was accepted from the inbox.", exampleRequest("IN_PROGRESS")},
	{RequestCompleted, "A request was marked complete.", exampleRequest("COMPLETED")},
	{RequestCancelled, "A request was cancelled.", exampleRequest("CANCELLED")},
	{RequestReopened, "A request that was complete was opened again, by staff or by its requester.", exampleRequest("IN_PROGRESS")},
	{RequestMoved, "A request was moved to another offering.", exampleRequest("PENDING")},
	{RequestUpdated, "A request was changed in another way than by its status.", RequestUpdate{exampleRequest("IN_PROGRESS"), []string{"priority"}}},
	{RequestCommented, "Somebody commented on a request.", RequestComment{exampleRequest("IN_PROGRESS"), exampleCommentID, "public"}},
	{RequestRated, "The requester said how content they are with a request.", RequestRating{exampleRequest("COMPLETED"), 5}},
	{WorkflowStarted, "A workflow execution began.", exampleExecution("RUNNING")},
	{WorkflowCompleted, "A workflow execution finished.", exampleExecution("COMPLETED")},
	{WorkflowFailed, "A workflow execution hit an error: it failed, or waits for somebody to resolve an incident.", exampleFailure()},
	{TaskAssigned, "A task was assigned to a user, a team or an agent.", exampleTask("OPEN")},
	{TaskCompleted, "A task was marked complete.", exampleTask("COMPLETED")},
	{SLAWarning, "An SLA target is nearing its threshold.", exampleSLA("WARNING")},
	{SLABreached, "An SLA target was exceeded.", exampleSLA("BREACHED")},
	{ApprovalRequested, "Somebody was asked to approve.", exampleApproval("PENDING")},
	{ApprovalDecided, "An approval was settled by its approvers, or has expired.", exampleApproval("APPROVED")},
}

// resources names what the events with a prefix are about, as access policies name it.
var resources = map[string]string{"request": "Request", "sla": "Request", "workflow": "Execution", "task": "Task", "approval": "Approval"}

// Resource returns the resource that an event is about, as access policies name it; empty for an unknown one. It goes by the
// prefix, so that a node can send what one of the next release has emitted.
func Resource(name string) string {
	prefix, _, _ := strings.Cut(name, ".")
	return resources[prefix]
}

// Names returns the events' names.
func Names() []string {
	names := make([]string, len(All))
	for i, k := range All {
		names[i] = k.Name
	}
	return names
}

// Find returns the kind of an event; false for an unknown name.
func Find(name string) (Kind, bool) {
	i := slices.IndexFunc(All, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return All[i], true
}

// envelope is a payload, with its fields in the order in which they are sent.
type envelope[T any] struct {
	Event     string `json:"event"`
	Timestamp string `json:"timestamp"`
	Sequence  *int64 `json:"sequence,omitempty"`
	Data      T      `json:"data"`
}

// Payload encodes a payload as it is stored: {"event", "timestamp", "data"}. The event's number has a column of its own.
func Payload(name string, at time.Time, data any) ([]byte, error) {
	return encode(envelope[any]{name, at.UTC().Format(clock.Format), nil, data})
}

func encode(e envelope[any]) ([]byte, error) {
	payload, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write the event %s: %w", e.Event, err)
	}
	return payload, nil
}

// Canonical returns a stored payload as subscribers get it: {"event", "timestamp", "sequence", "data"}, in this order, which
// PostgreSQL does not keep. The same event always gives the same bytes.
func Canonical(payload []byte, sequence int64) ([]byte, error) {
	var e envelope[json.RawMessage]
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, fmt.Errorf("read a payload: %w", err)
	}
	data := any(e.Data)
	if k, ok := Find(e.Event); ok {
		typed := reflect.New(reflect.TypeOf(k.Example))
		if strictly(e.Data, typed.Interface()) {
			data = typed.Elem().Interface()
		}
	}
	return encode(envelope[any]{e.Event, e.Timestamp, &sequence, data})
}

// Erased returns a payload in which mark replaces what people wrote: titles and tags of requests, titles of tasks, and messages of failures.
// The name of a workflow stays.
func Erased(payload []byte, mark string) ([]byte, error) {
	var e envelope[map[string]any]
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if err := d.Decode(&e); err != nil {
		return nil, fmt.Errorf("read a payload: %w", err)
	}
	if _, failed := e.Data["error"]; !failed {
		e.Data["title"] = mark
		delete(e.Data, "tags")
	} else if failure, ok := e.Data["error"].(map[string]any); ok {
		failure["message"] = mark
	}
	out, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write a payload: %w", err)
	}
	return out, nil
}
