package savedreply

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/savedreply"
	"atrium/internal/desk/audience"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// maxReplies is the number of replies that one person may save.
const maxReplies = 200

var sorts = op.Sorts{
	"createdAt": savedreply.FieldCreatedAt, "updatedAt": savedreply.FieldUpdatedAt, "name": op.Alphabetical(savedreply.FieldName),
}

// The operations on saved replies.
var (
	List = paging.NewList("savedreply.list", op.Spec{
		Resource: "SavedReply", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List the saved replies that one sees",
	}, func(_ context.Context, tx *op.Tx, in ListInput) *ent.SavedReplyQuery {
		where := paging.Words([]predicate.SavedReply{audience.Seen[predicate.SavedReply](tx)}, in.Q, savedreply.FieldName)
		return tx.SavedReply.Query().Where(where...)
	})

	Get = op.Get("savedreply.read", op.Spec{
		Resource: "SavedReply", Action: op.Read, AdminLayer: true, Summary: "Get a saved reply",
	}, load)

	Create = op.New("savedreply.create", op.Spec{
		Resource: "SavedReply", Action: op.Create, AdminLayer: true, Summary: "Save a reply",
	}, create).WithVerbs(func(in CreateInput) []string {
		if in.Scope == audience.Me {
			return []string{"savedreply.create"}
		}
		return []string{"savedreply.create", "savedreply.share"}
	}).WithCheck(checkNew, "scope")

	Update = op.OnRow("savedreply.update", op.Spec{
		Resource: "SavedReply", Action: op.Update, AdminLayer: true, Summary: "Change a saved reply",
	}, loadOwn, update).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateInput) error { return checkBody(op.Or(in.Body.Value(), "")) })

	Delete = op.OnRow("savedreply.delete", op.Spec{
		Resource: "SavedReply", Action: op.Delete, AdminLayer: true, Summary: "Delete a saved reply",
	}, loadOwn, remove)
)

// ListInput selects a page of replies.
type ListInput struct {
	paging.Page
	Q string `json:"-" query:"q" maxLength:"200" doc:"Replies whose name has these words, or parts of them."`
}

func load(ctx context.Context, tx *op.Tx, id string) (*ent.SavedReply, error) {
	return op.Lock(tx, tx.SavedReply.Query().Where(savedreply.ID(id), audience.Seen[predicate.SavedReply](tx))).Only(ctx)
}

// loadOwn loads and locks a reply for a change.
func loadOwn(ctx context.Context, tx *op.Tx, id string) (*ent.SavedReply, error) {
	r, err := load(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return r, audience.MayChange(tx, r.UserID)
}

// CreateInput describes a new reply.
type CreateInput struct {
	Name   string  `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" example:"How to restart"`
	Scope  string  `json:"scope" enum:"me,team,company" doc:"Who sees it: whoever made it, the members of a team, everybody."`
	TeamID *string `json:"teamId,omitempty" nullable:"true" maxLength:"64" doc:"Whose members see it: needed with the scope team, and nowhere else. One of the caller's own teams; for admins, any."`
	Body   string  `json:"body" minLength:"1" maxLength:"10000" pattern:"\\S" patternDescription:"more than blanks" doc:"What is said, in Markdown. {{request.title}}, {{request.number}}, {{requester.name}} and {{me.name}} stand for what they name." example:"Hello {{requester.name}}, please restart it."`
}

// checkNew returns validation_error for a text that names what there is not, and for whom it cannot be.
func checkNew(ctx context.Context, tx *op.Tx, in CreateInput) error {
	var refs op.Refs
	refs.Refused(checkBody(in.Body))
	refs.Refused(audience.Check(ctx, tx, in.Scope, in.TeamID))
	return refs.Err()
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.SavedReply, error) {
	me := tx.Principal()
	if err := checkNew(ctx, tx, in); err != nil {
		return nil, err
	}
	full := apperr.New(apperr.Conflict, "You have saved %d replies, which is as many as one may have.", maxReplies)
	if err := tx.AtMost(ctx, "savedreplies/"+me.ID, maxReplies, tx.SavedReply.Query().Where(savedreply.UserID(me.ID)).Count, full); err != nil {
		return nil, err
	}
	r, err := tx.SavedReply.Create().SetName(in.Name).SetScope(savedreply.Scope(in.Scope)).SetBody(in.Body).
		SetUserID(me.ID).SetNillableTeamID(in.TeamID).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("save the reply: %w", err)
	}
	tx.Changed(nil, r)
	return r, nil
}

// UpdateInput changes the fields that are set.
type UpdateInput struct {
	op.ByID
	Name op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Body op.Patch[string] `json:"body,omitzero" minLength:"1" maxLength:"10000" pattern:"\\S" patternDescription:"more than blanks" doc:"What is said, in Markdown."`
}

func update(ctx context.Context, tx *op.Tx, before *ent.SavedReply, in UpdateInput) (*ent.SavedReply, error) {
	if err := checkBody(op.Or(in.Body.Value(), "")); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Body, u.SetBody)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the reply: %w", err)
	}
	return after, nil
}

func remove(ctx context.Context, tx *op.Tx, r *ent.SavedReply, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, r, tx.SavedReply.DeleteOne(r).Exec)
}
