package graph

import (
	"atrium/graph/generated"
	"atrium/internal/op"
)

// Resolver resolves the fields of the schema that are not plain columns. Each of its methods runs one operation; run.go holds
// what they have in common.
type Resolver struct {
	engine  *op.Engine
	baseURL string // the prefix of addresses in answers
}

// Query returns the resolver of queries.
func (r *Resolver) Query() generated.QueryResolver { return &queryResolver{r} }

// Mutation returns the resolver of mutations.
func (r *Resolver) Mutation() generated.MutationResolver { return &mutationResolver{r} }

// Subscription returns the resolver of subscriptions.
func (r *Resolver) Subscription() generated.SubscriptionResolver { return &subscriptionResolver{r} }

type (
	queryResolver        struct{ *Resolver }
	mutationResolver     struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
)
