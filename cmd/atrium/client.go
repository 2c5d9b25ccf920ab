package main

import (
	"context"

	"atrium/internal/identity"
	"atrium/internal/op"
)

type clientCreateCmd struct {
	dataFlags
	jsonFlag
	Company      string   `required:"" help:"The live company's id (co_…)."`
	Name         string   `required:"" help:"The application's name, as people see it."`
	RedirectURI  []string `required:"" sep:"none" help:"Where codes are sent; may be given several times."`
	Scopes       []string `help:"What tokens may ask for (default: every scope)."`
	Confidential bool     `help:"The application can keep a secret."`

	PostLogoutRedirectURI []string `sep:"none" help:"Where people may be sent after signing out; may be given several times."`
	BackchannelLogoutURI  string   `help:"Where the application is told that a person has signed out."`
}

// Run registers a client.
func (m *clientCreateCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "client create", func(ctx context.Context, c *core) error {
		made, _, err := op.Run(ctx, c.engine, identity.CreateClient, identity.CreateClientInput{
			Name: m.Name, RedirectURIs: m.RedirectURI, Scopes: m.Scopes, Confidential: &m.Confidential,
			PostLogoutRedirectURIs: m.PostLogoutRedirectURI, BackchannelLogoutURI: &m.BackchannelLogoutURI,
		}, nil)
		if err != nil {
			return err
		}
		var secret *string
		lines := []string{"client  " + made.ID}
		if made.Secret != "" {
			secret = &made.Secret
			lines = append(lines, "secret  "+made.Secret, "The secret is shown this once.")
		}
		return m.print(map[string]any{"oauthClient": map[string]any{
			"clientId": made.ID, "redirectUris": made.Client.RedirectUris, "scopes": made.Client.Scopes,
		}, "clientSecret": secret}, lines...)
	})
}
