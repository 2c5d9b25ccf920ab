package agent

import (
	"context"
	"fmt"

	"atrium/ent"
	"atrium/ent/agent"
	"atrium/internal/agent/settings"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/id"
	"atrium/internal/secret"
	"atrium/internal/webhook/signing"
)

// The operations on the API keys and signing secrets of CUSTOM agents.
var (
	CreateKey = op.New("agent.create_key", op.Spec{
		Resource: "APIKey", Action: op.Create, AdminLayer: true, LiveOnly: true, Past: map[string]string{"agent.create_key": "apikey.created"},
		Summary: "Issue an API key that stands on an agent",
	}, createKey)

	RotateSecret = op.OnRow("agent.rotate_secret", op.Spec{
		Resource: "Agent", Action: op.Update, AdminLayer: true, Past: map[string]string{"agent.rotate_secret": "agent.secret_rotated"},
		Summary: "Replace the secret that signs what is pushed to an agent",
	}, settings.Load, rotateSecret)
)

// Issued is an agent with the secret that signs pushes to it, which is not shown again. MANAGED agents have none.
type Issued struct {
	ID            string
	Agent         *ent.Agent
	SigningSecret secret.Value
}

// RotateSecretInput names an agent.
type RotateSecretInput struct {
	op.ByID
	signing.Overlap
}

// rotateSecret returns conflict for a MANAGED agent, which gets no pushes.
func rotateSecret(ctx context.Context, tx *op.Tx, before *ent.Agent, in RotateSecretInput) (Issued, error) {
	if before.Source != agent.SourceCUSTOM {
		return Issued{}, apperr.New(apperr.Conflict, "Only CUSTOM agents have a signing secret.")
	}
	out, u := Issued{ID: before.ID, SigningSecret: signing.New()}, before.Update()
	err := signing.Rotate(ctx, tx, u, before.ID, before.SecretSealed, out.SigningSecret, in.Overlap)
	if err != nil {
		return Issued{}, err
	}
	if out.Agent, err = u.Save(ctx); err != nil {
		return Issued{}, fmt.Errorf("rotate the signing secret: %w", err)
	}
	tx.Changed(before, out.Agent)
	return out, nil
}

// CreateKeyInput names an agent.
type CreateKeyInput struct {
	AgentID string `json:"agentId" minLength:"1" maxLength:"64" doc:"A CUSTOM agent."`
	Name    string `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
}

// createKey issues a key with the agent's current scopes. A version published later can narrow the key's rights but never widen
// them.
func createKey(ctx context.Context, tx *op.Tx, in CreateKeyInput) (apikey.Issued, error) {
	a, err := tx.Agent.Query().Where(agent.ID(in.AgentID)).Only(ctx)
	if ent.IsNotFound(err) {
		return apikey.Issued{}, apperr.InvalidField("agentId", "is no agent of this company")
	}
	if err != nil {
		return apikey.Issued{}, fmt.Errorf("look the agent up: %w", err)
	}
	if a.Source != agent.SourceCUSTOM {
		return apikey.Issued{}, apperr.InvalidField("agentId", "is a MANAGED agent, which needs no key")
	}
	key, err := apikey.Issue(ctx, tx.Client, func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
		return c.SetName(in.Name).SetScopes(a.Scopes).SetAgentID(a.ID).SetCreatedBy(tx.Principal().ID)
	}, false)
	if err != nil {
		return apikey.Issued{}, err
	}
	tx.About(key.ID)
	tx.Changed(nil, key.Key)
	return key, nil
}

// newID returns a new id of an agent.
func newID() string { return id.New("agt") }
