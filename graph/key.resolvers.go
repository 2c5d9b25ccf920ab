package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/resolve"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
)

func (r *mutationResolver) CreateAPIKey(ctx context.Context, input apikey.CreateInput) (*generated.CreateAPIKeyPayload, error) {
	k, err := resolve.Change(ctx, r.Engine, apikey.Create, input, "")
	return &generated.CreateAPIKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *mutationResolver) RotateAPIKey(ctx context.Context, input op.ByID) (*generated.RotateAPIKeyPayload, error) {
	k, err := resolve.Change(ctx, r.Engine, apikey.Rotate, input, "id")
	return &generated.RotateAPIKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *mutationResolver) CreateOAuthClient(ctx context.Context, input identity.CreateClientInput) (*generated.CreateOAuthClientPayload, error) {
	c, err := resolve.Change(ctx, r.Engine, identity.CreateClient, input, "")
	return &generated.CreateOAuthClientPayload{OauthClient: c.Client, ClientSecret: resolve.TextOrNil(c.Secret)}, err
}

func (r *apiKeyResolver) Status(_ context.Context, k *ent.APIKey) (string, error) {
	return apikey.Status(k, r.Engine.Store.Clock().Now()), nil
}
