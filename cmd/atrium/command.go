package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/identity/access"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// inCompany opens the core and runs fn as the operator of a company.
func (f dataFlags) inCompany(ctx context.Context, companyID, command string, fn func(context.Context, *core) error) (err error) {
	if !strings.HasPrefix(companyID, "co_") { // any other id is no company's, and must not reach row-level security
		return fmt.Errorf("--company: there is no live company %q", companyID)
	}
	c, err := f.openExisting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	ctx = principal.With(ctx, principal.Operator(companyID, command))
	co, err := c.store.Reader().Company.Get(ctx, companyID)
	if ent.IsNotFound(err) || err == nil && co.SandboxOf != nil {
		return fmt.Errorf("--company: there is no live company %q", companyID)
	}
	if err != nil {
		return fmt.Errorf("look the company up: %w", err)
	}
	return fn(ctx, c)
}

// userByEmail returns the company's user with the e-mail address; for an empty address, its first owner.
func userByEmail(ctx context.Context, c *core, email string) (*ent.User, error) {
	q := c.store.Reader().User.Query()
	if email != "" {
		q = q.Where(user.Email(strings.ToLower(email)))
	} else {
		q = q.Where(user.RoleEQ(user.RoleOwner), access.Here()).Order(user.ByCreatedAt(), user.ByID())
	}
	u, err := q.First(ctx)
	if ent.IsNotFound(err) {
		return nil, apperr.InvalidField("user", "is no user of this company")
	}
	if err != nil {
		return nil, fmt.Errorf("look the user up: %w", err)
	}
	return u, nil
}

// knownScopes returns an error that names the first unknown scope.
func knownScopes(names []string) error {
	if _, err := principal.ParseScopes(names); err != nil {
		return fmt.Errorf("--scopes: %w; the scopes are %s", err, strings.Join(principal.ScopeNames, ", "))
	}
	return nil
}

// jsonFlag selects JSON output.
type jsonFlag struct {
	JSON bool `help:"Print JSON."`
}

// print writes v as JSON with --json, and the lines otherwise.
func (j jsonFlag) print(v any, lines ...string) error {
	if !j.JSON {
		_, err := fmt.Println(strings.Join(lines, "\n"))
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
