package main

import (
	"context"

	"atrium/internal/op"
	"atrium/internal/people"
)

type userInviteCmd struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
	Email   string `required:"" help:"The person's e-mail address."`
	Role    string `required:"" enum:"owner,admin,agent,member" help:"owner, admin, agent or member."`
	Name    string `help:"The person's name (default: made from the e-mail address)."`
}

// Run invites a person.
func (m *userInviteCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "user invite", func(ctx context.Context, c *core) error {
		in := people.InviteUserInput{Email: m.Email, Role: &m.Role}
		if m.Name != "" {
			in.Name = &m.Name
		}
		u, _, err := op.Run(ctx, c.engine, people.InviteUser, in, nil)
		if err != nil {
			return err
		}
		return m.print(map[string]any{"user": map[string]any{
			"id": u.ID, "email": u.Email, "name": u.Name, "role": u.Role, "status": u.Status,
		}}, "user  "+u.ID)
	})
}
