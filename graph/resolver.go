package graph

import (
	"atrium/graph/generated"
	"atrium/internal/op"
)

// Resolver answers the fields of the schema that are no columns. Each of its methods runs one operation; what they have
// in common stands in run.go.
type Resolver struct {
	engine  *op.Engine
	baseURL string // in front of addresses that are answered
}

// Query returns the resolver of what can be read.
func (r *Resolver) Query() generated.QueryResolver { return &queryResolver{r} }

// Mutation returns the resolver of what can be changed.
func (r *Resolver) Mutation() generated.MutationResolver { return &mutationResolver{r} }

// Subscription returns the resolver of what can be watched.
func (r *Resolver) Subscription() generated.SubscriptionResolver { return &subscriptionResolver{r} }

type (
	queryResolver        struct{ *Resolver }
	mutationResolver     struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
)
