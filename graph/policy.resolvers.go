package graph

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/policy"
)

func (r *queryResolver) AccessPolicies(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.AccessPolicy], error) {
	return list(ctx, r.engine, policy.List, nil, first, after, orderBy)
}

func (r *queryResolver) AccessDecisions(ctx context.Context, first *int, after *string, filter *policy.ListDecisionsInput, orderBy *relay.Order) (*relay.Connection[ent.AccessDecision], error) {
	return list(ctx, r.engine, policy.ListDecisions, filter, first, after, orderBy)
}

func (r *queryResolver) ExplainAccess(ctx context.Context, principalID, action, resourceType string, resourceID *string) (*policy.Explanation, error) {
	e, err := run(ctx, r.engine, policy.Explain, policy.ExplainInput{
		PrincipalID: principalID, Action: action, ResourceType: resourceType, ResourceID: resourceID,
	})
	return &e, err
}

func (r *queryResolver) ReplayAccessPolicies(ctx context.Context, policies []map[string]any, last *int) (*policy.Replayed, error) {
	input := map[string]any{"policies": policies}
	if last != nil {
		input["last"] = *last
	}
	out, err := change(ctx, r.engine, policy.Replay, input, none)
	return &out, err
}

func (r *mutationResolver) CreateAccessPolicy(ctx context.Context, input map[string]any) (*generated.CreateAccessPolicyPayload, error) {
	p, err := change(ctx, r.engine, policy.Create, input, none)
	return &generated.CreateAccessPolicyPayload{AccessPolicy: p}, err
}

func (r *mutationResolver) UpdateAccessPolicy(ctx context.Context, input map[string]any) (*generated.UpdateAccessPolicyPayload, error) {
	p, err := change(ctx, r.engine, policy.Update, input, id)
	return &generated.UpdateAccessPolicyPayload{AccessPolicy: p}, err
}

func (r *mutationResolver) DeleteAccessPolicy(ctx context.Context, input map[string]any) (*generated.DeleteAccessPolicyPayload, error) {
	_, err := change(ctx, r.engine, policy.Delete, input, id)
	return &generated.DeleteAccessPolicyPayload{ID: idOf(input)}, err
}

func (r *mutationResolver) ValidateAccessPolicy(ctx context.Context, input map[string]any) (*policy.Validity, error) {
	v, err := change(ctx, r.engine, policy.Validate, input, none)
	return &v, err
}

// AccessPolicy returns the resolver of a policy's fields that are no columns.
func (r *Resolver) AccessPolicy() generated.AccessPolicyResolver { return &accessPolicyResolver{r} }

type accessPolicyResolver struct{ *Resolver }

func (r *accessPolicyResolver) Description(_ context.Context, p *ent.AccessPolicy) (*string, error) {
	return textOrNil(p.Description), nil
}

func (r *accessPolicyResolver) Condition(_ context.Context, p *ent.AccessPolicy) (json.RawMessage, error) {
	return objectOf(p.Condition), nil
}

func (r *accessPolicyResolver) Versions(ctx context.Context, p *ent.AccessPolicy, first *int, after *string) (*relay.Connection[ent.AccessPolicyVersion], error) {
	return branch(ctx, r.engine, p, func(p *ent.AccessPolicy) string { return p.ID }, policy.VersionsOf, first, after, same[ent.AccessPolicyVersion])
}

// AccessDecision returns the resolver of a decision's fields that are no columns.
func (r *Resolver) AccessDecision() generated.AccessDecisionResolver {
	return &accessDecisionResolver{r}
}

type accessDecisionResolver struct{ *Resolver }

func (r *accessDecisionResolver) DecidedBy(_ context.Context, d *ent.AccessDecision) (*policy.DecidedBy, error) {
	return &policy.DecidedBy{Kind: d.DecidedKind, ID: d.DecidedID}, nil
}

// AccessDecider returns the resolver of what decided.
func (r *Resolver) AccessDecider() generated.AccessDeciderResolver { return &accessDeciderResolver{r} }

type accessDeciderResolver struct{ *Resolver }

func (r *accessDeciderResolver) ID(_ context.Context, d *policy.DecidedBy) (*string, error) {
	return textOrNil(d.ID), nil
}

func (r *accessDeciderResolver) Name(_ context.Context, d *policy.DecidedBy) (*string, error) {
	return textOrNil(d.Name), nil
}

// AccessUnmet returns the resolver of the values of a condition, which may be of any type.
func (r *Resolver) AccessUnmet() generated.AccessUnmetResolver { return &accessUnmetResolver{r} }

type accessUnmetResolver struct{ *Resolver }

func (r *accessUnmetResolver) Want(_ context.Context, u *policy.Unmet) (json.RawMessage, error) {
	return rawOf(u.Want)
}

func (r *accessUnmetResolver) Have(_ context.Context, u *policy.Unmet) (json.RawMessage, error) {
	return rawOf(u.Have)
}

// rawOf shows a value of any type.
func rawOf(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("show a value: %w", err)
	}
	return b, nil
}
