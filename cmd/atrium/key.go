package main

import (
	"context"
	"time"

	"atrium/ent"
	"atrium/internal/identity/apikey"
	"atrium/internal/op"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/clock"
	"atrium/internal/platform/store"
)

// keyJSON is an API key in the JSON output.
type keyJSON struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Prefix    string   `json:"prefix"`
	Last4     string   `json:"last4"`
	Scopes    []string `json:"scopes"`
	Test      bool     `json:"test"`
	ExpiresAt *string  `json:"expiresAt"`
}

// issuedJSON is a new key with its secret value.
type issuedJSON struct {
	APIKey keyJSON `json:"apiKey"`
	Value  string  `json:"value"`
}

func issued(k apikey.Issued) issuedJSON { return issuedJSON{APIKey: shown(k.Key), Value: k.Value} }

func shown(k *ent.APIKey) keyJSON {
	out := keyJSON{ID: k.ID, Name: k.Name, Prefix: k.Prefix, Last4: k.Last4, Scopes: k.Scopes, Test: k.Test}
	if k.ExpiresAt != nil {
		out.ExpiresAt = new(k.ExpiresAt.UTC().Format(clock.Format))
	}
	return out
}

type keyCreateCmd struct {
	dataFlags
	jsonFlag
	Company string   `required:"" help:"The live company's id (co_…)."`
	Name    string   `required:"" help:"What the key is for."`
	Scopes  []string `required:"" help:"The key's scopes, separated by commas."`
	Test    bool     `help:"A key for the company's sandbox."`
	Expires string   `help:"When it ends: an RFC 3339 time, a date, or a duration from now."`
	User    string   `help:"E-mail address of the user behind the key (default: the first owner)."`
}

// Run issues a key.
func (m *keyCreateCmd) Run(ctx context.Context) error {
	if err := knownScopes(m.Scopes); err != nil {
		return err
	}
	return m.inCompany(ctx, m.Company, "key create", func(ctx context.Context, c *core) error {
		u, err := userByEmail(ctx, c, m.User)
		if err != nil {
			return err
		}
		in := apikey.CreateInput{Name: m.Name, Scopes: m.Scopes, Test: &m.Test, OwnerID: u.ID}
		if in.ExpiresAt, err = parseMoment(m.Expires, c.clock.Now()); err != nil {
			return err
		}
		k, _, err := op.Run(ctx, c.engine, apikey.Create, in, nil)
		if err != nil {
			return err
		}
		return m.print(issued(k), "key    "+k.ID, "value  "+k.Value, "The value is shown this once.")
	})
}

// parseMoment parses a time, a date or a duration from now; nil for an empty string.
func parseMoment(s string, now time.Time) (*time.Time, error) {
	if s == "" {
		return nil, nil // no expiry
	}
	if d, err := time.ParseDuration(s); err == nil {
		return new(now.Add(d)), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return new(t.UTC()), nil
		}
	}
	return nil, apperr.InvalidField("expires", "must be an RFC 3339 time, a date, or a duration such as 720h")
}

type keyRotateCmd struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
	ID      string `required:"" help:"The key's id (key_…)."`
}

// Run rotates a key.
func (m *keyRotateCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "key rotate", func(ctx context.Context, c *core) error {
		k, _, err := op.Run(ctx, c.engine, apikey.Rotate, op.ByID{ID: m.ID}, nil)
		if err != nil {
			return err
		}
		time.Sleep(store.Propagation)
		return m.print(issued(k), "key    "+k.ID, "value  "+k.Value, "The value is shown this once; the old key is revoked.")
	})
}

type keyRevokeCmd struct {
	dataFlags
	jsonFlag
	Company string `required:"" help:"The live company's id (co_…)."`
	ID      string `required:"" help:"The key's id (key_…)."`
}

// Run revokes a key.
func (m *keyRevokeCmd) Run(ctx context.Context) error {
	return m.inCompany(ctx, m.Company, "key revoke", func(ctx context.Context, c *core) error {
		k, _, err := op.Run(ctx, c.engine, apikey.Revoke, op.ByID{ID: m.ID}, nil)
		if err != nil {
			return err
		}
		time.Sleep(store.Propagation) // after that every node refuses the key
		return m.print(map[string]any{"apiKey": shown(k)}, "the key is revoked")
	})
}
