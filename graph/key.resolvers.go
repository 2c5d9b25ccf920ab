package graph

import (
	"context"

	"atrium/ent"
	"atrium/graph/generated"
	"atrium/graph/internal/relay"
	"atrium/internal/authn"
	"atrium/internal/identity"
)

func (r *queryResolver) APIKeys(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.APIKey], error) {
	return list(ctx, r.engine, authn.ListKeys, nil, first, after, orderBy)
}

func (r *queryResolver) OauthClients(ctx context.Context, first *int, after *string, orderBy *relay.Order) (*relay.Connection[ent.OAuthClient], error) {
	return list(ctx, r.engine, identity.ListClients, nil, first, after, orderBy)
}

func (r *mutationResolver) CreateAPIKey(ctx context.Context, input map[string]any) (*generated.CreateAPIKeyPayload, error) {
	k, err := change(ctx, r.engine, authn.CreateKey, input, none)
	return &generated.CreateAPIKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *mutationResolver) RotateAPIKey(ctx context.Context, input map[string]any) (*generated.RotateAPIKeyPayload, error) {
	k, err := change(ctx, r.engine, authn.RotateKey, input, id)
	return &generated.RotateAPIKeyPayload{APIKey: k.Key, Value: k.Value}, err
}

func (r *mutationResolver) RevokeAPIKey(ctx context.Context, input map[string]any) (*generated.RevokeAPIKeyPayload, error) {
	k, err := change(ctx, r.engine, authn.RevokeKey, input, id)
	return &generated.RevokeAPIKeyPayload{APIKey: k}, err
}

func (r *mutationResolver) CreateOAuthClient(ctx context.Context, input map[string]any) (*generated.CreateOAuthClientPayload, error) {
	c, err := change(ctx, r.engine, identity.CreateClient, input, none)
	return &generated.CreateOAuthClientPayload{OauthClient: c.Client, ClientSecret: textOrNil(c.Secret)}, err
}

func (r *mutationResolver) DeleteOAuthClient(ctx context.Context, input map[string]any) (*generated.DeleteOAuthClientPayload, error) {
	_, err := change(ctx, r.engine, identity.DeleteClient, input, id)
	return &generated.DeleteOAuthClientPayload{ID: idOf(input)}, err
}

// ApiKey returns the resolver of an API key's fields that are no columns.
func (r *Resolver) ApiKey() generated.ApiKeyResolver { return &apiKeyResolver{r} }

type apiKeyResolver struct{ *Resolver }

func (r *apiKeyResolver) Status(_ context.Context, k *ent.APIKey) (string, error) {
	return authn.KeyStatus(k, r.engine.Store.Clock().Now()), nil
}

// OAuthClient returns the resolver of an OAuth client's fields that are no columns.
func (r *Resolver) OAuthClient() generated.OAuthClientResolver { return &oauthClientResolver{r} }

type oauthClientResolver struct{ *Resolver }

func (r *oauthClientResolver) BackchannelLogoutURI(_ context.Context, c *ent.OAuthClient) (*string, error) {
	return textOrNil(c.BackchannelLogoutURI), nil
}
