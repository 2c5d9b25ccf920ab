package request

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atrium/ent"
	"atrium/internal/desk/sla/timer"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// Bulk begins a change of several requests. It checks the input and keeps the idempotency key; whoever runs it then has BulkInput.Row
// perform the operation on each request, in a transaction of its own: a refused row leaves the others done.
var Bulk = op.New("request.bulk", op.Spec{
	Resource: "Request", Action: op.Update, Scope: "requests:write", PerRow: true,
	Summary: "Change several requests at once, each as if it were changed by itself",
}, func(_ context.Context, tx *op.Tx, in BulkInput) (struct{}, error) {
	tx.Unaudited() // the rows' operations write their entries
	return struct{}{}, in.check()
}).WithVerbs(BulkInput.verbs)

// BulkInput names requests and what is done to all of them: a change or a transition.
type BulkInput struct {
	IDs        []string          `json:"ids" minItems:"1" maxItems:"100" uniqueItems:"true" doc:"The requests, at most 100." example:"[\"req_01k9ye4ryzf7stj6dqnm8x2v3b\"]"`
	Change     strictjson.Object `json:"change,omitempty" nullable:"true" doc:"What changes: the body of PATCH /v1/requests/{id}, or the fields of updateRequest. Give this or a transition." example:"{\"priority\": \"HIGH\"}"`
	Transition *string           `json:"transition,omitempty" nullable:"true" enum:"accept,complete,cancel,decline,reopen,move" doc:"What is done instead of a change."`
	Reason     *string           `json:"reason,omitempty" nullable:"true" doc:"Why: decline requires it, reopen takes it."`
	OfferingID *string           `json:"offeringId,omitempty" nullable:"true" doc:"The offering that move files them against."`
	Fields     strictjson.Object `json:"fields,omitempty" nullable:"true" doc:"The answers to the form of that offering, for all of them; when not given, each keeps its own." example:"{}"`
	Etags      []string          `json:"etags,omitempty" nullable:"true" maxItems:"100" doc:"The requests' ETags as you saw them, as many as ids and in their order: what has changed since is refused with precondition_failed." example:"[]"`
}

// single is an operation on one request that Bulk performs on several.
type single struct {
	verbs func() []string
	check func() error // of the input that is the same for all of them
	run   func(ctx context.Context, e *op.Engine, id string, c op.Call) (*ent.Request, *op.Answer, error)
}

// singleOf performs an operation with a body, as if that were sent for each request.
func singleOf[In any](o *op.Operation[In, *ent.Request], body map[string]any, verbs func(In) []string) single {
	decode := func(id string) (In, error) {
		raw, err := json.Marshal(body)
		if err != nil {
			var none In
			return none, fmt.Errorf("write the body: %w", err)
		}
		return o.Decode(raw, func(string) string { return id }, nil)
	}
	return single{
		verbs: func() []string {
			in, _ := decode("") // what of it fits: check reports the rest
			return verbs(in)
		},
		check: func() error {
			_, err := decode("")
			return err
		},
		run: func(ctx context.Context, e *op.Engine, id string, c op.Call) (*ent.Request, *op.Answer, error) {
			in, err := decode(id)
			if err != nil {
				return nil, nil, err
			}
			return op.Run(ctx, e, o, in, c.Checked())
		},
	}
}

// single returns what is done to each request.
func (in BulkInput) single() single {
	body := map[string]any{}
	if in.Reason != nil {
		body["reason"] = *in.Reason
	}
	if in.OfferingID != nil {
		body["offeringId"] = *in.OfferingID
	}
	if in.Fields != nil {
		body["fields"] = in.Fields
	}
	only := func(verbs ...string) func(op.ByID) []string { return func(op.ByID) []string { return verbs } }
	switch op.Or(in.Transition, "") {
	case "accept":
		return singleOf(Accept, body, only("request.accept"))
	case "decline":
		return singleOf(Decline, body, func(DeclineInput) []string { return []string{"request.cancel"} })
	case "reopen":
		return singleOf(Reopen, body, func(ReopenInput) []string { return []string{"request.reopen"} })
	case "move":
		return singleOf(Move, body, MoveInput.verbs)
	case "complete":
		body["status"] = "COMPLETED"
	case "cancel":
		body["status"] = "CANCELLED"
	default:
		body = in.Change // nothing else is given beside it: see check
	}
	return singleOf(Update, body, UpdateInput.verbs)
}

func (in BulkInput) verbs() []string { return in.single().verbs() }

// check returns a validation error for what no operation of a row would take.
func (in BulkInput) check() error {
	switch {
	case (in.Change == nil) == (in.Transition == nil):
		return apperr.InvalidField("change", "must be given, or else a transition")
	case in.Change != nil && (in.Reason != nil || in.OfferingID != nil || in.Fields != nil):
		return apperr.InvalidField("change", "must not be given beside reason, offeringId or fields, which belong to transitions")
	case len(in.Etags) > 0 && len(in.Etags) != len(in.IDs):
		return apperr.InvalidField("etags", "must have as many entries as ids")
	}
	err := in.single().check()
	if known, ok := errors.AsType[*apperr.Error](err); ok && in.Change != nil {
		details := slices.Clone(known.Details)
		for i := range details {
			details[i].Field = "change." + details[i].Field
		}
		return apperr.Invalid(details...)
	}
	return err
}

// Row performs the operation on the request with that id, which need not be one of the input's, after Bulk took the input.
func (in BulkInput) Row(ctx context.Context, e *op.Engine, id string, c op.Call) (*ent.Request, *op.Answer, error) {
	return in.single().run(ctx, e, id, c)
}

// Gathered returns the context in which the requests are changed: people are mailed once of what becomes late, and of what is assigned to them.
func (in BulkInput) Gathered(ctx context.Context, e *op.Engine) context.Context {
	if len(in.IDs) == 1 {
		return ctx
	}
	return events.Gathered(ctx, e.Store.Clock().Now().Add(timer.Gather))
}

// SeenAs returns the ETag of the n-th request as the caller saw it; empty for none.
func (in BulkInput) SeenAs(n int) string {
	if n < len(in.Etags) {
		return in.Etags[n]
	}
	return ""
}
