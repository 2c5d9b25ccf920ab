package savedview

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/predicate"
	"atrium/ent/savedview"
	"atrium/internal/desk/audience"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
)

// maxViews is the number of views that one person may create.
const maxViews = 100

var sorts = op.Sorts{
	"createdAt": savedview.FieldCreatedAt, "updatedAt": savedview.FieldUpdatedAt, "name": op.Alphabetical(savedview.FieldName),
}

// The operations on saved views.
var (
	List = paging.NewList("savedview.list", op.Spec{
		Resource: "SavedView", Action: op.Read, AdminLayer: true, Sorts: sorts, Summary: "List the saved views that one sees",
	}, func(_ context.Context, tx *op.Tx, _ ListInput) *ent.SavedViewQuery {
		return tx.SavedView.Query().Where(audience.Seen[predicate.SavedView](tx))
	})

	Get = op.Get("savedview.read", op.Spec{
		Resource: "SavedView", Action: op.Read, AdminLayer: true, Summary: "Get a saved view",
	}, load)

	Create = op.New("savedview.create", op.Spec{
		Resource: "SavedView", Action: op.Create, AdminLayer: true, Summary: "Save a view",
	}, create).WithVerbs(func(in CreateInput) []string {
		if in.Scope == audience.Me {
			return []string{"savedview.create"}
		}
		return []string{"savedview.create", "savedview.share"}
	}).WithCheck(func(ctx context.Context, tx *op.Tx, in CreateInput) error {
		return audience.Check(ctx, tx, in.Scope, in.TeamID)
	}, "scope")

	Update = op.OnRow("savedview.update", op.Spec{
		Resource: "SavedView", Action: op.Update, AdminLayer: true, Summary: "Change a saved view",
	}, loadOwn, update)

	Delete = op.OnRow("savedview.delete", op.Spec{
		Resource: "SavedView", Action: op.Delete, AdminLayer: true, Summary: "Delete a saved view",
	}, loadOwn, remove)
)

// ListInput selects a page of views.
type ListInput struct{ paging.Page }

func load(ctx context.Context, tx *op.Tx, id string) (*ent.SavedView, error) {
	return op.Lock(tx, tx.SavedView.Query().Where(savedview.ID(id), audience.Seen[predicate.SavedView](tx))).Only(ctx)
}

// loadOwn loads and locks a view for a change.
func loadOwn(ctx context.Context, tx *op.Tx, id string) (*ent.SavedView, error) {
	v, err := load(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return v, audience.MayChange(tx, v.UserID)
}

// CreateInput describes a new view.
type CreateInput struct {
	Name   string  `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks" example:"Urgent, unassigned"`
	Scope  string  `json:"scope" enum:"me,team,company" doc:"Who sees it: whoever made it, the members of a team, everybody."`
	TeamID *string `json:"teamId,omitempty" nullable:"true" maxLength:"64" doc:"Whose members see it: needed with the scope team, and nowhere else. One of the caller's own teams; for admins, any."`
	Query  string  `json:"query,omitempty" maxLength:"4096" doc:"What stands in the address of the list, such as status=PENDING&sort=-createdAt." example:"status=PENDING&priority=URGENT"`
}

func create(ctx context.Context, tx *op.Tx, in CreateInput) (*ent.SavedView, error) {
	me := tx.Principal()
	if err := audience.Check(ctx, tx, in.Scope, in.TeamID); err != nil {
		return nil, err
	}
	full := apperr.New(apperr.Conflict, "You have saved %d views, which is as many as one may have.", maxViews)
	if err := tx.AtMost(ctx, "savedviews/"+me.ID, maxViews, tx.SavedView.Query().Where(savedview.UserID(me.ID)).Count, full); err != nil {
		return nil, err
	}
	v, err := tx.SavedView.Create().SetName(in.Name).SetScope(savedview.Scope(in.Scope)).SetQuery(in.Query).
		SetUserID(me.ID).SetNillableTeamID(in.TeamID).Save(ctx)
	if err != nil {
		return nil, fmt.Errorf("save the view: %w", err)
	}
	tx.Changed(nil, v)
	return v, nil
}

// UpdateInput changes the fields that are set.
type UpdateInput struct {
	op.ByID
	Name  op.Patch[string] `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	Query op.Patch[string] `json:"query,omitzero" maxLength:"4096" doc:"What stands in the address of the list."`
}

func update(ctx context.Context, tx *op.Tx, before *ent.SavedView, in UpdateInput) (*ent.SavedView, error) {
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.Query, u.SetQuery)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the view: %w", err)
	}
	return after, nil
}

func remove(ctx context.Context, tx *op.Tx, v *ent.SavedView, _ op.ByID) (struct{}, error) {
	return op.Remove(ctx, tx, v, tx.SavedView.DeleteOne(v).Exec)
}
