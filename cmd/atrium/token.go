package main

import (
	"context"
	"time"

	"atrium/internal/identity"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/principal"
)

type tokenCreateCmd struct {
	dataFlags
	jsonFlag
	Company string        `required:"" help:"The live company's id (co_…)."`
	User    string        `required:"" help:"E-mail address of the person that the token speaks for."`
	Scopes  []string      `help:"The token's scopes (default: every scope of the API)."`
	Test    bool          `help:"A token for the company's sandbox."`
	TTL     time.Duration `default:"1h" help:"How long it is valid: 1s to 8760h."`
}

// Run issues a token.
func (m *tokenCreateCmd) Run(ctx context.Context) error {
	if m.TTL < time.Second || m.TTL > identity.MaxTokenLife { // the times of a token are whole seconds
		return apperr.InvalidField("ttl", "must be 1s to 8760h")
	}
	if len(m.Scopes) == 0 {
		m.Scopes = principal.ScopeNames
	}
	if err := knownScopes(m.Scopes); err != nil {
		return err
	}
	return m.inCompany(ctx, m.Company, "token create", func(ctx context.Context, c *core) error {
		u, err := userByEmail(ctx, c, m.User)
		if err != nil {
			return err
		}
		baseURL, authURL, err := c.addresses(ctx)
		if err != nil {
			return err
		}
		in := identity.GrantTokenInput{ByID: op.ByID{ID: u.ID}, Scopes: m.Scopes, Test: m.Test}
		who, _, err := op.Run(ctx, c.engine, identity.GrantToken, in, nil)
		if err != nil {
			return err
		}
		token, expires, err := c.tokens(baseURL, authURL).Issue(ctx, who.UserID, who.CompanyID, identity.OperatorClient, m.Scopes, m.TTL)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"accessToken": token, "expiresAt": expires.UTC().Format(clock.Format)}, token)
	})
}
