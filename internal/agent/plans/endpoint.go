package plans

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/modelconnection"
	"atrium/internal/agent/model"
	"atrium/internal/agent/settings"
	"atrium/internal/agent/worker"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/secret"
)

// EndpointOf returns the endpoint of an agent's model with its key, and the secret that holds the key. Call it outside of
// transactions. Returns conflict if the endpoint or its secret does not exist, or the secret may not be sent there.
func EndpointOf(ctx context.Context, e *op.Engine, models worker.Models, s settings.Settings) (out model.Endpoint, used []secret.Opened, err error) {
	if s.ModelConnectionID == "" {
		if models.Default.URL == "" {
			return out, nil, apperr.New(apperr.Conflict, "This server has no model of its own: the agent names a modelConnectionId.")
		}
		return models.Default, nil, nil
	}
	db := e.Store.Reader()
	c, err := db.ModelConnection.Query().Where(modelconnection.ID(s.ModelConnectionID)).Only(ctx)
	if ent.IsNotFound(err) {
		return out, nil, apperr.New(apperr.Conflict, "The agent's model connection was deleted.")
	}
	if err != nil {
		return out, nil, fmt.Errorf("read the model connection: %w", err)
	}
	out = model.Endpoint{URL: c.BaseURL, Model: s.Model, HTTP: models.HTTP}
	if out.Model == "" {
		out.Model = c.Models[0]
	}
	if c.SecretName == "" {
		return out, nil, nil
	}
	opened, err := secret.Open(ctx, db, e.Sealer, c.SecretName)
	if ent.IsNotFound(err) {
		return out, nil, apperr.New(apperr.Conflict, "The secret of the agent's model connection was deleted.")
	}
	if err == nil && !opened.Hosts.AllowURL(c.BaseURL) {
		return out, nil, apperr.New(apperr.Conflict, "The secret of the agent's model connection may not be sent to its address, which its allowed hosts do not name.")
	}
	out.Key = opened.Value
	return out, []secret.Opened{opened}, err
}
