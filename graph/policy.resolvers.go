package graph

import (
	"context"
	"encoding/json"
	"fmt"

	"atrium/ent"
	"atrium/ent/accesspolicy"
	"atrium/graph/internal/relay"
	"atrium/graph/internal/resolve"
	"atrium/internal/policy"
)

func (r *queryResolver) ExplainAccess(ctx context.Context, principalID, action, resourceType string, resourceID *string) (*policy.Explanation, error) {
	e, err := resolve.Run(ctx, r.Engine, policy.Explain, policy.ExplainInput{
		PrincipalID: principalID, Action: action, ResourceType: resourceType, ResourceID: resourceID,
	})
	return &e, err
}

func (r *queryResolver) ReplayAccessPolicies(ctx context.Context, policies []*policy.Draft, last *int) (*policy.Replayed, error) {
	in := policy.ReplayInput{Last: last}
	for _, p := range policies {
		in.Policies = append(in.Policies, *p)
	}
	out, err := resolve.Change(ctx, r.Engine, policy.Replay, in, "")
	return &out, err
}

func (r *mutationResolver) ValidateAccessPolicy(ctx context.Context, input policy.ValidateInput) (*policy.Validity, error) {
	v, err := resolve.Change(ctx, r.Engine, policy.Validate, input, "")
	return &v, err
}

func (r *accessPolicyResolver) Versions(ctx context.Context, p *ent.AccessPolicy, first *int, after *string) (*relay.Connection[ent.AccessPolicyVersion], error) {
	return resolve.Children(ctx, r.Engine, p, func(p *ent.AccessPolicy) string { return p.ID }, policy.VersionsOf, first, after, resolve.Same[ent.AccessPolicyVersion])
}

func (r *accessDecisionResolver) DecidedBy(_ context.Context, d *ent.AccessDecision) (*policy.DecidedBy, error) {
	return &policy.DecidedBy{Kind: d.DecidedKind, ID: d.DecidedID}, nil
}

func (r *accessPolicyDraftInputResolver) Condition(_ context.Context, in *policy.Draft, data json.RawMessage) error {
	return resolve.ReadJSON(data, &in.Condition)
}

func (r *accessDeciderResolver) ID(_ context.Context, d *policy.DecidedBy) (*string, error) {
	return resolve.TextOrNil(d.ID), nil
}

func (r *accessDeciderResolver) Name(_ context.Context, d *policy.DecidedBy) (*string, error) {
	return resolve.TextOrNil(d.Name), nil
}

func (r *accessDeciderResolver) Effect(_ context.Context, d *policy.DecidedBy) (*accesspolicy.Effect, error) {
	if d.Effect == "" {
		return nil, nil // no policy decided
	}
	return new(accesspolicy.Effect(d.Effect)), nil
}

func (r *accessUnmetResolver) Want(_ context.Context, u *policy.Unmet) (json.RawMessage, error) {
	return rawOf(u.Want)
}

func (r *accessUnmetResolver) Have(_ context.Context, u *policy.Unmet) (json.RawMessage, error) {
	return rawOf(u.Have)
}

// rawOf encodes a value of any type as JSON.
func rawOf(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("show a value: %w", err)
	}
	return b, nil
}
