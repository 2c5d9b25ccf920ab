package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/secret"
)

func (r *queryResolver) Secret(ctx context.Context, id string) (*ent.Secret, error) {
	return read(ctx, r.engine, secret.GetSecret, id)
}

func (r *queryResolver) Secrets(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.Secret], error) {
	return list(ctx, r.engine, secret.ListSecrets, nil, first, after, orderBy)
}

func (r *mutationResolver) CreateSecret(ctx context.Context, input map[string]any) (*generated.CreateSecretPayload, error) {
	s, err := change(ctx, r.engine, secret.CreateSecret, input, none)
	return &generated.CreateSecretPayload{Secret: s}, err
}

func (r *mutationResolver) UpdateSecret(ctx context.Context, input map[string]any) (*generated.UpdateSecretPayload, error) {
	s, err := change(ctx, r.engine, secret.UpdateSecret, input, id)
	return &generated.UpdateSecretPayload{Secret: s}, err
}

func (r *mutationResolver) RotateSecret(ctx context.Context, input map[string]any) (*generated.RotateSecretPayload, error) {
	s, err := change(ctx, r.engine, secret.RotateSecret, input, id)
	return &generated.RotateSecretPayload{Secret: s}, err
}

func (r *mutationResolver) DeleteSecret(ctx context.Context, input map[string]any) (*generated.DeleteSecretPayload, error) {
	_, err := change(ctx, r.engine, secret.DeleteSecret, input, id)
	return &generated.DeleteSecretPayload{ID: idOf(input)}, err
}

// Secret returns the resolver of a secret's fields that are no columns.
func (r *Resolver) Secret() generated.SecretResolver { return &secretResolver{r} }

type secretResolver struct{ *Resolver }

func (r *secretResolver) Description(_ context.Context, s *ent.Secret) (*string, error) {
	return textOrNil(s.Description), nil
}
