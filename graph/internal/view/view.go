package view

import (
	"atrium/ent"
	"atrium/internal/people/company"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
)

// Viewer is the caller.
type Viewer struct {
	ID     string
	Type   string
	Name   string
	Email  *string
	Role   string
	Scopes []string

	// Own reads the person's user, for their language and time zone; nil for no person. It is called once at most.
	Own func() (*ent.User, error)
}

// NewViewer returns the view of a principal.
func NewViewer(p *principal.Principal) *Viewer {
	v := &Viewer{ID: p.ID, Type: string(p.Type), Name: p.Name, Role: string(p.Role), Scopes: p.Scopes.Names()}
	if p.Email != "" {
		v.Email = &p.Email
	}
	return v
}

// Company is a company with its sandbox.
type Company struct {
	*ent.Company
	Sandbox *Sandbox
	Limits  ratelimit.Limit
}

// Sandbox is the sandbox of a live company.
type Sandbox struct{ ID string }

// NewCompany returns the view of a company; nil for nil.
func NewCompany(p *company.Profile) *Company {
	if p == nil {
		return nil
	}
	c := &Company{Company: p.Company, Limits: p.Limits}
	if p.SandboxID != "" {
		c.Sandbox = &Sandbox{ID: p.SandboxID}
	}
	return c
}
