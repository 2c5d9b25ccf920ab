package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/apperr"
	"atrium/internal/op"
	"atrium/internal/principal"
)

// CreateClient registers an application that obtains tokens for people.
var CreateClient = op.New("oauthclient.create", op.Spec{
	Resource: "OAuthClient", Action: op.Create, AdminLayer: true, Summary: "Register an OAuth client",
}, createClient)

// CreateClientInput describes a new client.
type CreateClientInput struct {
	Name         string   `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	RedirectURIs []string `json:"redirectUris" minItems:"1" maxItems:"20" uniqueItems:"true" doc:"Matched exactly: https, or http on a loopback address for native applications (on any port)."`
	Scopes       []string `json:"scopes,omitempty" nullable:"true" maxItems:"20" uniqueItems:"true" doc:"What tokens may ask for; all scopes of the API when not given."`
	Confidential *bool    `json:"confidential,omitempty" nullable:"true" doc:"The client can keep a secret."`
}

// CreatedClient is a client with its secret, which is shown this once; public clients have none.
type CreatedClient struct {
	ID     string
	Client *ent.OAuthClient
	Secret string
}

// standardScopes are OpenID's, which say nothing about the API.
var standardScopes = []string{"openid", "profile", "email", "offline_access"}

// StandardScope tells whether a scope is one of OpenID's own.
func StandardScope(scope string) bool { return slices.Contains(standardScopes, scope) }

// createClient registers a client. Returns validation_error for redirect URIs that are not absolute https (or http on
// loopback) or carry a fragment, and for unknown scopes.
func createClient(ctx context.Context, tx *op.Tx, in CreateClientInput) (CreatedClient, error) {
	var refs op.Refs
	for i, uri := range in.RedirectURIs {
		if !validRedirect(uri) {
			refs.Fault(fmt.Sprintf("redirectUris[%d]", i), "must be an https address, or http on 127.0.0.1 or [::1], without a fragment")
		}
	}
	scopes := in.Scopes
	if len(scopes) == 0 {
		scopes = principal.ScopeNames
	}
	for i, s := range scopes {
		if !StandardScope(s) && principal.MustScope(s) == 0 {
			refs.Fault(fmt.Sprintf("scopes[%d]", i), "is no known scope")
		}
	}
	if err := refs.Err(); err != nil {
		return CreatedClient{}, err
	}
	c := tx.OAuthClient.Create().SetName(in.Name).SetRedirectUris(in.RedirectURIs).SetScopes(scopes).
		SetConfidential(op.Or(in.Confidential, false)).SetCreatedBy(tx.Principal().ID)
	out := CreatedClient{}
	if op.Or(in.Confidential, false) {
		out.Secret = rand.Text() + rand.Text()
		sum := sha256.Sum256([]byte(out.Secret))
		c.SetSecretHash(sum[:])
	}
	var err error
	if out.Client, err = c.Save(ctx); err != nil {
		return CreatedClient{}, fmt.Errorf("register the client: %w", err)
	}
	out.ID = out.Client.ID
	tx.Changed(nil, out.Client)
	return out, nil
}

// validRedirect tells whether a redirect URI may be registered.
func validRedirect(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || strings.Contains(s, "#") || len(s) > 2000 || strings.ContainsAny(s, " \t\r\n\\") {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && err == nil && ip.IsLoopback()
}

// GrantToken records that the operator takes an access token for a person. The token itself is signed by Tokens.Issue
// once the record stands.
var GrantToken = op.OnRow("token.create", op.Spec{
	Resource: "User", Action: op.Update, Summary: "Issue an access token for a person",
}, loadUser, grantToken)

// GrantTokenInput names the person and the token's scopes.
type GrantTokenInput struct {
	op.ByID
	Scopes []string `json:"scopes" minItems:"1" maxItems:"20" uniqueItems:"true"`
}

func loadUser(ctx context.Context, tx *op.Tx, id string) (*ent.User, error) {
	return tx.User.Get(ctx, id) //nolint:wrapcheck // the pipeline reads Ent's own error
}

func grantToken(_ context.Context, tx *op.Tx, u *ent.User, in GrantTokenInput) (struct{}, error) {
	var refs op.Refs
	for i, s := range in.Scopes {
		if !StandardScope(s) && principal.MustScope(s) == 0 {
			refs.Fault(fmt.Sprintf("scopes[%d]", i), "is no known scope")
		}
	}
	if u.Status == user.StatusDeactivated {
		return struct{}{}, apperr.New(apperr.Conflict, "The user is deactivated.")
	}
	tx.ChangedField("scopes", nil, in.Scopes)
	return struct{}{}, refs.Err()
}
