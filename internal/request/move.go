package request

import (
	"context"

	"atrium/ent"
	"atrium/ent/request"
	"atrium/internal/events"
	"atrium/internal/op"
)

// The transitions that have an operation of their own. They are what an update of the status is, with the same rights,
// events and audit entries.
var (
	Accept = op.OnRow("request.accept", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Summary: "Accept a request from the inbox",
	}, load, func(ctx context.Context, tx *op.Tx, r *ent.Request, in op.ByID) (*ent.Request, error) {
		return update(ctx, tx, r, UpdateInput{ByID: in, Status: op.SetTo(string(request.StatusIN_PROGRESS))})
	})

	Decline = op.OnRow("request.decline", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.cancel": events.RequestCancelled},
		Summary: "Cancel a request, saying why",
	}, load, decline).WithVerbs(func(DeclineInput) []string { return []string{"request.cancel"} })
)

// DeclineInput says why a request is not dealt with.
type DeclineInput struct {
	op.ByID
	Reason string `json:"reason" minLength:"1" maxLength:"1000" pattern:"\\S" patternDescription:"more than blanks" doc:"Kept in the audit entry."`
}

func decline(ctx context.Context, tx *op.Tx, r *ent.Request, in DeclineInput) (*ent.Request, error) {
	tx.ChangedField("reason", nil, in.Reason)
	return update(ctx, tx, r, UpdateInput{ByID: in.ByID, Status: op.SetTo(string(request.StatusCANCELLED))})
}
