package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"atrium/ent"
	"atrium/ent/comment"
	"atrium/ent/offering"
	entrequest "atrium/ent/request"
	"atrium/internal/desk/request"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
	"atrium/internal/workflow/execution"
)

// The names of the tools: the GraphQL names of their operations.
const (
	Update  = "updateRequest" // with which an agent routes requests
	Move    = "moveRequest"
	Accept  = "acceptRequest"
	Decline = "declineRequest"
	Comment = "createComment"
)

// Tool is an operation that agents may use.
type Tool struct {
	Name  string
	Info  *op.Info
	Check func(requestID string, arguments json.RawMessage) error // validates against the operation's input
	run   func(ctx context.Context, tx *op.Tx, requestID string, arguments json.RawMessage) error
}

// OnlyFields returns validation_error for an argument that agents do not have of the tool.
func (t *Tool) OnlyFields(given map[string]json.RawMessage) error {
	only := FieldsOf[t.Name]
	for _, field := range slices.Sorted(maps.Keys(given)) {
		if !t.Info.Input.HasBody() || len(only) > 0 && !slices.Contains(only, field) {
			return apperr.InvalidField(field, "is not for an agent to set")
		}
	}
	return nil
}

// toolOf makes a tool of an operation on a request or a task.
func toolOf[In, Out any](name string, o *op.Operation[In, Out]) Tool {
	read := func(requestID string, arguments json.RawMessage) (In, error) {
		if !o.Info().Input.HasBody() {
			arguments = nil
		}
		return o.Decode(arguments, func(string) string { return requestID }, nil)
	}
	return Tool{name, o.Info(), func(requestID string, arguments json.RawMessage) error {
		_, err := read(requestID, arguments)
		return err
	}, func(ctx context.Context, tx *op.Tx, requestID string, arguments json.RawMessage) error {
		in, err := read(requestID, arguments)
		if err != nil {
			return err
		}
		_, err = op.RunIn(ctx, tx, o, in)
		return err
	}}
}

// All lists the tools.
var All = []Tool{
	toolOf(Update, request.Update), toolOf(Move, request.Move), toolOf(Accept, request.Accept), toolOf(Decline, request.Decline),
	toolOf(Comment, request.CreateComment), toolOf(Task, execution.CompleteTask),
}

// MayWait reports whether a call of the operation with an agent's key becomes an action.
func MayWait(info *op.Info) bool {
	return slices.ContainsFunc(All, func(t Tool) bool { return t.Info.Name == info.Name && t.Name != Task })
}

// Named returns the tool with the name; nil for none.
func Named(name string) *Tool {
	if i := slices.IndexFunc(All, func(t Tool) bool { return t.Name == name }); i >= 0 {
		return &All[i]
	}
	return nil
}

// For returns the tool for a write with its verbs. An update that only accepts the request is the tool acceptRequest. Returns
// forbidden for what agents may not do.
func For(info *op.Info, verbs []string) (*Tool, error) {
	if info.Name == request.Update.Info().Name {
		switch {
		case slices.Equal(verbs, []string{"request.update"}):
			return Named(Update), nil
		case slices.Equal(verbs, []string{"request.accept"}):
			return Named(Accept), nil
		case slices.Contains(verbs, "request.accept"):
			return nil, apperr.New(apperr.Forbidden, "An agent accepts a request in a call of its own, without other changes.")
		case slices.Contains(verbs, "request.cancel"):
			return nil, apperr.New(apperr.Forbidden, "An agent declines a request with a reason: call declineRequest.")
		}
	} else if i := slices.IndexFunc(All, func(t Tool) bool { return t.Info.Name == info.Name }); i >= 0 && All[i].Name != Task {
		return &All[i], nil // a task ends with its run
	}
	return nil, apperr.New(apperr.Forbidden, "Agents do not use this operation.")
}

// Target is what a tool works on: a request, or a task about it.
type Target struct {
	Request *ent.Request
	Task    *ent.Task // nil for a tool that works on the request
}

// MayUse asks whether a principal could use a tool with these arguments: by role, scopes, and the policies on the row as it is and
// as the arguments would make it. A comment takes the right to read its request. Returns the id of the policy that makes an agent
// wait, empty for none, and forbidden if the principal could not do it. Call it outside of transactions.
func (t *Tool) MayUse(ctx context.Context, tx *op.Tx, who *principal.Principal, on Target, arguments json.RawMessage) (policy string, err error) {
	var row any = on.Request
	may := false
	switch t.Info.Resource {
	case "Comment":
		row = &ent.Comment{CompanyID: on.Request.CompanyID, RequestID: on.Request.ID, AuthorID: who.ID, Visibility: comment.DefaultVisibility}
		may, err = tx.ReadableBy(ctx, who, request.Get.Info(), on.Request, t.Info.Verbs()...)
	case "Task":
		row = on.Task
		fallthrough
	default:
		may, err = tx.MayDo(ctx, who, t.Info, row)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("ask for the rights: %w", err)
	case !may:
		return "", apperr.New(apperr.Forbidden, "The access policies do not allow this.")
	}
	if arguments, err = t.implied(ctx, tx, arguments); err != nil {
		return "", err
	}
	return tx.ApprovalFor(ctx, who, t.Info, row, arguments)
}

// implied returns the arguments with what the tool sets besides: the status of a transition, the service of another offering.
func (t *Tool) implied(ctx context.Context, tx *op.Tx, arguments json.RawMessage) (json.RawMessage, error) {
	set := map[string]any{}
	if err := json.Unmarshal(arguments, &set); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	switch t.Name {
	case Accept:
		set["status"] = entrequest.StatusIN_PROGRESS
	case Decline:
		set["status"] = entrequest.StatusCANCELLED
	case Move:
		id, _ := set["offeringId"].(string)
		off, err := tx.Offering.Query().Where(offering.ID(id)).Only(tx.Unfiltered(ctx, "where a move leads, whoever sees it"))
		if ent.IsNotFound(err) {
			return arguments, nil // moving refuses it
		}
		if err != nil {
			return nil, fmt.Errorf("look the offering up: %w", err)
		}
		set["serviceId"] = off.ServiceID
	default:
		return arguments, nil
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("write the arguments: %w", err)
	}
	return raw, nil
}

// Perform runs the operation of an action. The caller has locked the row.
func Perform(ctx context.Context, tx *op.Tx, name, requestID string, arguments json.RawMessage) error {
	t := Named(name)
	if t == nil {
		return apperr.New(apperr.Conflict, "There is no such operation any more.")
	}
	return t.run(ctx, tx, requestID, arguments)
}

// ValuesOf returns the fields of a request that actions compare.
func ValuesOf(r *ent.Request) map[string]any {
	return map[string]any{
		"serviceId": r.ServiceID, "offeringId": r.OfferingID, "title": r.Title, "description": r.Description, "status": r.Status, "priority": r.Priority, "tags": r.Tags, "teamId": r.TeamID,
		"assigneeId": r.AssigneeID, "waiting": r.Waiting, "snoozedUntil": r.SnoozedUntil, "fields": r.Fields,
	}
}

// Task is the tool of a run about a task. It is in no list of tools, because it is the purpose of the run.
const Task = "completeTask"

// FieldsOf lists the arguments that a model has of an operation that writes; all if the operation is not listed. A model cannot
// change the text of a request.
var FieldsOf = map[string][]string{
	Update:  {"teamId", "assigneeId", "priority", "tags"},
	Move:    {"offeringId"},
	Comment: {"body", "format", "visibility"}, // agents add no files
	Task:    {"outcome", "variables"},
}
