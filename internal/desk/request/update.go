package request

import (
	"context"
	"fmt"
	"time"

	"atrium/ent"
	"atrium/ent/offering"
	"atrium/ent/request"
	"atrium/internal/desk/attachment"
	"atrium/internal/desk/participant"
	"atrium/internal/op"
	"atrium/internal/op/events"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/strictjson"
)

// The operations on one request.
var (
	Get = op.Get("request.read", op.Spec{
		Resource: "Request", Action: op.Read, Scope: "requests:read",
		Summary: "Get a request",
	}, read).Reaching(participant.InRequest)

	Update = op.OnRow("request.update", op.Spec{
		Resource: "Request", Action: op.Update, Scope: "requests:write",
		Past:    map[string]string{"request.cancel": events.RequestCancelled},
		Summary: "Update a request, or move it along: status IN_PROGRESS accepts or reopens, COMPLETED completes, CANCELLED cancels",
	}, load, update).WithVerbs(UpdateInput.verbs).WithRowVerbs(rowVerbs).Prepared(func(ctx context.Context, tx *op.Tx, in UpdateInput) (any, error) {
		if !in.Fields.IsSet() {
			return nil, nil // the answers stay as they are
		}
		r, err := tx.Request.Get(ctx, in.ID)
		if ent.IsNotFound(err) {
			return nil, nil // the operation reports the missing row
		}
		if err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		already, err := fieldsOf(r)
		if err != nil {
			return nil, err
		}
		fields, _ := op.Given(in.Fields)
		return prepareFields(ctx, tx, r.OfferingID, fields, already, attachment.Answerable(tx, r.ID))
	}).WithFaults(func(ctx context.Context, tx *op.Tx, in UpdateInput) ([]apperr.Detail, error) {
		if !in.Fields.IsSet() {
			return nil, nil
		}
		r, err := tx.Request.Query().Where(request.ID(in.ID)).Where(reached(tx)...).Only(ctx)
		if err != nil {
			return nil, ent.MaskNotFound(err) // of a row that the caller does not see, nothing is said
		}
		already, err := fieldsOf(r)
		if err != nil {
			return nil, err
		}
		fields, _ := op.Given(in.Fields)
		return FieldFaults(ctx, tx, r.OfferingID, fields, already, attachment.Answerable(tx, r.ID))
	}, "fields")
)

func load(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	return op.Lock(tx, tx.Request.Query().Where(request.ID(id))).Only(ctx)
}

// read loads a request for callers who only read it: the statement is prepared, and locks nothing.
func read(ctx context.Context, tx *op.Tx, id string) (*ent.Request, error) {
	return tx.Request.Load(ctx, id)
}

// UpdateInput changes the fields that it names.
type UpdateInput struct {
	op.ByID
	Title       op.Patch[string]            `json:"title,omitzero" minLength:"1" maxLength:"300" pattern:"\\S" patternDescription:"more than blanks"`
	Description op.Patch[string]            `json:"description,omitzero" nullable:"true" maxLength:"10000"`
	Format      op.Patch[string]            `json:"format,omitzero" enum:"plain,markdown" doc:"How the description is written."`
	Status      op.Patch[string]            `json:"status,omitzero" enum:"PENDING,IN_PROGRESS,COMPLETED,CANCELLED" doc:"A transition; an illegal one is a conflict."`
	Priority    op.Patch[string]            `json:"priority,omitzero" enum:"LOW,MEDIUM,HIGH,URGENT"`
	Fields      op.Patch[strictjson.Object] `json:"fields,omitzero" nullable:"true" doc:"Replaces all answers. Drafts that the answer to a field of type file names become files of the request; what it names no more stays one."`
	Tags        op.Patch[map[string]string] `json:"tags,omitzero" nullable:"true" doc:"Replaces all tags."`
	AssigneeID  op.Patch[string]            `json:"assigneeId,omitzero" nullable:"true" maxLength:"64"`
	TeamID      op.Patch[string]            `json:"teamId,omitzero" nullable:"true" maxLength:"64"`

	Waiting      op.Patch[bool]      `json:"waiting,omitzero" doc:"Whether the requester owes an answer, which stops the clock of the resolution. A public comment of the requester ends it."`
	SnoozedUntil op.Patch[time.Time] `json:"snoozedUntil,omitzero" nullable:"true" doc:"Until when nobody wants to see it in the inbox; a moment to come."`

	DeclineReason string       `json:"-"` // with status CANCELLED: why, if somebody has said
	Merged        bool         `json:"-"` // with status CANCELLED: as a duplicate of another request
	Cause         events.Cause `json:"-"` // of the events: an execution, or a change of service levels
	Escalates     bool         `json:"-"` // an escalation that fires now makes the change: what falls due besides fires after it
}

// moves reports whether the change may move the request's clock.
func (in UpdateInput) moves() bool {
	return in.Status.IsSet() || in.Priority.IsSet() || in.Waiting.IsSet()
}

// verbs returns the rights that the change requires: the transition's first, and request.update when anything else
// changes.
func (in UpdateInput) verbs() []string {
	var verbs []string
	if to, ok := op.Given(in.Status); ok {
		if a := arrowTo(request.Status(to)); a != nil {
			verbs = append(verbs, a.verb)
		}
	}
	if len(verbs) == 0 || op.Sets(in, "status") {
		verbs = append(verbs, "request.update")
	}
	return verbs
}

// rowVerbs returns the right that the change requires besides, if its transition is not the first to its status.
func rowVerbs(row any, in UpdateInput) []string {
	r, ok := row.(*ent.Request)
	to, given := op.Given(in.Status)
	if !ok || !given {
		return nil
	}
	if a := arrowBetween(r.Status, request.Status(to)); a != nil && a != arrowTo(a.to) {
		return []string{a.verb}
	}
	return nil
}

func update(ctx context.Context, tx *op.Tx, before *ent.Request, in UpdateInput) (*ent.Request, error) {
	if err := in.check(ctx, tx, before); err != nil {
		return nil, err
	}
	now := tx.Now(ctx)
	if in.moves() && !in.Escalates { // what fell due before the change must fire before it
		var err error
		if before, err = advance(ctx, tx, before, now, in.Cause); err != nil {
			return nil, err
		}
	}
	u := before.Update()
	event := ""
	if to, ok := op.Given(in.Status); ok {
		var err error
		if event, err = transition(u, before.Status, request.Status(to), now); err != nil {
			return nil, err
		}
	}
	if event == events.RequestReopened {
		if err := goOn(ctx, tx, before, now); err != nil {
			return nil, err
		}
	}
	if err := in.wait(ctx, tx, u, before, now); err != nil {
		return nil, err
	}
	if err := in.snooze(u, before, now); err != nil {
		return nil, err
	}
	if event == events.RequestCompleted {
		if err := askLater(ctx, tx, u, before, now); err != nil {
			return nil, err
		}
	}
	in.stamp(u, before, event, now)
	op.Set(in.Title, u.SetTitle)
	op.Set(in.Format, func(to string) *ent.RequestUpdateOne { return u.SetFormat(request.Format(formatFor(tx, &to))) })
	op.SetOrClear(in.Description, u.SetDescription, func() *ent.RequestUpdateOne { return u.SetDescription("") })
	op.Set(in.Priority, func(p string) *ent.RequestUpdateOne {
		return u.SetPriority(request.Priority(p)).SetPriorityRank(rank(request.Priority(p)))
	})
	if in.Fields.IsSet() {
		if err := changeAnswers(ctx, tx, before, u); err != nil {
			return nil, err
		}
	}
	op.SetOrClear(in.Tags, u.SetTags, u.ClearTags)
	op.SetOrClear(in.AssigneeID, u.SetAssigneeID, u.ClearAssigneeID)
	op.SetOrClear(in.TeamID, u.SetTeamID, u.ClearTeamID)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("update the request: %w", err)
	}
	if after != before {
		if err := tx.Agents().RequestChanged(ctx, tx, before, after); err != nil {
			return nil, err
		}
		if err := emitUpdated(ctx, tx, before, after, in.Cause); err != nil {
			return nil, err
		}
	}
	if err := tellAssignee(ctx, tx, before, after); err != nil {
		return nil, err
	}
	if event == events.RequestReopened {
		return reopened(ctx, tx, before, after, now, in.Cause)
	}
	if event != "" {
		if err := emit(ctx, tx, event, after, in.Cause); err != nil {
			return nil, err
		}
	}
	if after == before || !in.moves() || in.Escalates {
		return after, nil
	}
	return advance(ctx, tx, after, now, in.Cause)
}

// stamp sets what the transition leaves in the row besides its status and time.
func (in UpdateInput) stamp(u *ent.RequestUpdateOne, before *ent.Request, event string, now time.Time) {
	if in.DeclineReason != "" {
		u.SetDeclineReason(in.DeclineReason)
	}
	if in.Merged {
		u.SetMergedAt(now)
	}
	if event == events.RequestAccepted && before.FirstResponseAt == nil {
		u.SetFirstResponseAt(now)
	}
}

// changeAnswers replaces the answers of a request, which gets the drafts that they name. Files that they name no more stay at the request.
func changeAnswers(ctx context.Context, tx *op.Tx, before *ent.Request, u *ent.RequestUpdateOne) error {
	ready, _ := op.Preparation[fieldsChecked](tx)
	already, err := fieldsOf(before)
	if err != nil {
		return err
	}
	ready.setAnswers(u)
	return ready.claim(ctx, tx, before.ID, already)
}

// check returns a validation error that names ids which are no rows of the company, and answers that the offering's
// form refuses.
func (in UpdateInput) check(ctx context.Context, tx *op.Tx, r *ent.Request) error {
	var refs op.Refs
	if id := in.AssigneeID.Value(); id == nil || r.AssigneeID == nil || *id != *r.AssigneeID { // an assignee who has left may stay
		checkAssignee(ctx, tx, &refs, id)
	}
	refs.Check("teamId", in.TeamID.Value(), "team", teamExists(ctx, tx))
	if !in.Fields.IsSet() {
		return refs.Err()
	}
	off, err := tx.Offering.Query().Where(offering.ID(r.OfferingID)).
		Only(tx.Unfiltered(ctx, "the form binds everybody who changes the answers, also those who do not see the offering"))
	if err != nil {
		return fmt.Errorf("look the offering up: %w", err)
	}
	ready, _ := op.Preparation[fieldsChecked](tx)
	refs.Refused(ready.check(off))
	return refs.Err()
}
