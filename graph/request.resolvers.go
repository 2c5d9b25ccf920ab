package graph

import (
	"context"
	"encoding/json"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/catalog"
	"atrium/internal/feed"
	"atrium/internal/op"
	"atrium/internal/people"
	"atrium/internal/request"
)

func (r *queryResolver) Request(ctx context.Context, id string) (*ent.Request, error) {
	return read(ctx, r.engine, request.Get, id)
}

func (r *queryResolver) Requests(ctx context.Context, first *int, after *string, filter *request.ListInput, orderBy *relay.Order) (*relay.Connection[ent.Request], error) {
	return list(ctx, r.engine, request.List, filter, first, after, orderBy)
}

func (r *mutationResolver) CreateRequest(ctx context.Context, input map[string]any) (*generated.CreateRequestPayload, error) {
	q, err := change(ctx, r.engine, request.Create, input, none)
	return &generated.CreateRequestPayload{Request: q}, err
}

func (r *mutationResolver) UpdateRequest(ctx context.Context, input map[string]any) (*generated.UpdateRequestPayload, error) {
	q, err := change(ctx, r.engine, request.Update, input, id)
	return &generated.UpdateRequestPayload{Request: q}, err
}

func (r *mutationResolver) AcceptRequest(ctx context.Context, input map[string]any) (*generated.AcceptRequestPayload, error) {
	q, err := change(ctx, r.engine, request.Accept, input, id)
	return &generated.AcceptRequestPayload{Request: q}, err
}

func (r *mutationResolver) DeclineRequest(ctx context.Context, input map[string]any) (*generated.DeclineRequestPayload, error) {
	q, err := change(ctx, r.engine, request.Decline, input, id)
	return &generated.DeclineRequestPayload{Request: q}, err
}

func (r *subscriptionResolver) RequestChanged(ctx context.Context, id *string, filter *request.ListInput) (<-chan *generated.RequestChange, error) {
	in := request.LookUpInput{ListInput: op.Or(filter, request.ListInput{})}
	in.Lean = lean[ent.Request](ctx, "request.", nil)
	return watch(ctx, watched{feed.Requests, feed.Filter{ID: op.Or(id, "")}}, func(ctx context.Context, ids []string) (map[string]*ent.Request, error) {
		if ids == nil && id != nil {
			if _, err := read(ctx, r.engine, request.Get, *id); err != nil {
				return nil, err
			}
		}
		in.IDs = ids
		return run(ctx, r.engine, request.LookUp, in)
	}, func(kind generated.ChangeKind, q *ent.Request) *generated.RequestChange {
		return &generated.RequestChange{Change: kind, Request: q}
	})
}

// Request returns the resolver of a request's fields that are no columns.
func (r *Resolver) Request() generated.RequestResolver { return &requestResolver{r} }

type requestResolver struct{ *Resolver }

func (r *requestResolver) Description(_ context.Context, q *ent.Request) (*string, error) {
	return textOrNil(q.Description), nil
}

func (r *requestResolver) Fields(_ context.Context, q *ent.Request) (json.RawMessage, error) {
	return objectOf(q.Fields), nil
}

func (r *requestResolver) Tags(_ context.Context, q *ent.Request) (map[string]string, error) {
	return textsOf(q.Tags), nil
}

func (r *requestResolver) Service(ctx context.Context, q *ent.Request) (*ent.Service, error) {
	return follow(ctx, r.engine, q, func(q *ent.Request) *string { return &q.ServiceID }, catalog.LookUpServices)
}

func (r *requestResolver) Offering(ctx context.Context, q *ent.Request) (*ent.Offering, error) {
	return follow(ctx, r.engine, q, func(q *ent.Request) *string { return &q.OfferingID }, catalog.LookUpOfferings)
}

func (r *requestResolver) Creator(ctx context.Context, q *ent.Request) (*ent.User, error) {
	return follow(ctx, r.engine, q, func(q *ent.Request) *string { return &q.CreatedBy }, people.LookUpUsers)
}

func (r *requestResolver) Assignee(ctx context.Context, q *ent.Request) (*ent.User, error) {
	return follow(ctx, r.engine, q, func(q *ent.Request) *string { return q.AssigneeID }, people.LookUpUsers)
}

func (r *requestResolver) Team(ctx context.Context, q *ent.Request) (*ent.Team, error) {
	return follow(ctx, r.engine, q, func(q *ent.Request) *string { return q.TeamID }, people.LookUpTeams)
}
