package apitest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"atrium/ent"
	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/store"
	"atrium/internal/test/testkit"
)

// Caller is a caller of an API, with the headers of its credential. The zero value has no credential.
type Caller struct {
	Name    string
	Header  http.Header
	UserID  string // of the person behind the credential
	KeyID   string // of an API key: the actor of audit entries
	Company string // the company that the calls reach
	Value   string // the key or token
}

// ActorID returns the actor that audit entries name.
func (c Caller) ActorID() string {
	if c.KeyID != "" {
		return c.KeyID
	}
	return c.UserID
}

// Nobody calls without a credential.
var Nobody = Caller{Name: "nobody"}

// Callers are the users of a company, by bearer token, and an API key of each with every scope.
type Callers struct {
	Tenant *testkit.Tenant

	Owner, Admin, Agent, Member             Caller
	OwnerKey, AdminKey, AgentKey, MemberKey Caller
	TestKey                                 Caller // the owner's, in the sandbox
}

// Role returns the user with a role, by bearer token.
func (c *Callers) Role(r principal.Role) Caller {
	return map[principal.Role]Caller{principal.Owner: c.Owner, principal.Admin: c.Admin, principal.Agent: c.Agent, principal.Member: c.Member}[r]
}

// Roles are all roles, the most powerful first.
var Roles = []principal.Role{principal.Owner, principal.Admin, principal.Agent, principal.Member}

func (s *Server) callers(tb testing.TB, t *testkit.Tenant) *Callers {
	tb.Helper()
	c := &Callers{Tenant: t}
	for role, into := range map[principal.Role][2]*Caller{
		principal.Owner: {&c.Owner, &c.OwnerKey}, principal.Admin: {&c.Admin, &c.AdminKey},
		principal.Agent: {&c.Agent, &c.AgentKey}, principal.Member: {&c.Member, &c.MemberKey},
	} {
		*into[0] = s.Bearer(tb, t, t.Users[role], principal.ScopeNames, time.Hour)
		*into[1] = s.Key(tb, t, t.Users[role], KeyOptions{})
	}
	c.TestKey = s.Key(tb, t, t.Owner, KeyOptions{Test: true})
	return c
}

// Bearer issues an access token of the company's first client, as to a person who has just signed in to it.
func (s *Server) Bearer(tb testing.TB, t *testkit.Tenant, u *ent.User, scopes []string, ttl time.Duration) Caller {
	tb.Helper()
	var g *ent.Grant
	s.Write(tb, func(ctx context.Context, tx *store.Tx) (err error) {
		now := s.World.Clock.Now()
		g, err = tx.Grant.Create().SetCompanyID(u.CompanyID).SetUserID(u.ID).SetClientID(t.Client.ID).SetSignInID("sgn_test").
			SetScopes(scopes).SetMethods([]string{"pwd"}).SetAuthenticatedAt(now).SetExpiresAt(now.Add(ttl)).Save(ctx)
		return err
	})
	token, _, err := s.World.Tokens.IssueGranted(System(), identity.Grant{
		ID: g.ID, UserID: u.ID, CompanyID: u.CompanyID, ClientID: t.Client.ID, Scopes: scopes,
	}, ttl)
	require.NoError(tb, err)
	return Caller{
		Name: string(u.Role) + "'s token", Header: http.Header{"Authorization": {"Bearer " + token}},
		UserID: u.ID, Company: u.CompanyID, Value: token,
	}
}

// KeyOptions describe a key; the zero value is a live key with every scope.
type KeyOptions struct {
	Scopes    []string // nil for all
	Test      bool
	ExpiresAt *time.Time
	RevokedAt *time.Time
	IPs       []string
}

// Key makes an API key of a user.
func (s *Server) Key(tb testing.TB, t *testkit.Tenant, u *ent.User, o KeyOptions) Caller {
	tb.Helper()
	if o.Scopes == nil {
		o.Scopes = principal.ScopeNames
	}
	var key apikey.Issued
	s.Write(tb, func(ctx context.Context, tx *store.Tx) error {
		var err error
		key, err = apikey.Issue(ctx, tx.Client, func(c *ent.APIKeyCreate) *ent.APIKeyCreate {
			return c.SetCompanyID(t.Company.ID).SetName("Key of " + u.Name).SetScopes(o.Scopes).SetUserID(u.ID).SetCreatedBy(u.ID).
				SetNillableExpiresAt(o.ExpiresAt).SetNillableRevokedAt(o.RevokedAt).SetAllowedIps(o.IPs)
		}, o.Test)
		return err
	})
	company := t.Company.ID
	if o.Test {
		company = t.Sandbox.ID
	}
	return Caller{
		Name: string(u.Role) + "'s key", Header: http.Header{"X-Api-Key": {key.Value}},
		UserID: u.ID, KeyID: key.ID, Company: company, Value: key.Value,
	}
}

// Without returns every scope but the named one.
func Without(scope string) []string {
	var out []string
	for _, s := range principal.ScopeNames {
		if s != scope {
			out = append(out, s)
		}
	}
	return out
}
