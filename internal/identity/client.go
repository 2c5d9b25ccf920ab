package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"atrium/ent"
	"atrium/ent/authrequest"
	"atrium/ent/company"
	"atrium/ent/oauthclient"
	"atrium/internal/identity/access"
	"atrium/internal/op"
	"atrium/internal/op/paging"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

var clientSorts = op.Sorts{"createdAt": oauthclient.FieldCreatedAt, "name": op.Alphabetical(oauthclient.FieldName)}

// The operations on OAuth clients: applications that obtain tokens for people. They require a signed-in person.
var (
	ListClients = paging.NewList("oauthclient.list", op.Spec{
		Resource: "OAuthClient", Action: op.Read, AdminLayer: true, Sorts: clientSorts, Summary: "List OAuth clients",
	}, func(_ context.Context, tx *op.Tx, _ ListClientsInput) *ent.OAuthClientQuery {
		return tx.OAuthClient.Query()
	})

	CreateClient = op.New("oauthclient.create", op.Spec{
		Resource: "OAuthClient", Action: op.Create, AdminLayer: true, Summary: "Register an OAuth client",
	}, createClient).WithCheck(func(_ context.Context, _ *op.Tx, in CreateClientInput) error { return in.Check() }, "redirectUris", "scopes")

	UpdateClient = op.OnRow("oauthclient.update", op.Spec{
		Resource: "OAuthClient", Action: op.Update, AdminLayer: true,
		Summary: "Change an OAuth client; scopes that it loses are lost to its tokens at once",
	}, loadClient, updateClient).WithCheck(func(_ context.Context, _ *op.Tx, in UpdateClientInput) error { return in.check() }, "redirectUris", "scopes")

	DeleteClient = op.OnRow("oauthclient.delete", op.Spec{
		Resource: "OAuthClient", Action: op.Delete, AdminLayer: true, Summary: "Delete an OAuth client; its tokens end at once",
	}, loadClient, deleteClient)
)

// ListClientsInput pages the clients.
type ListClientsInput struct{ paging.Page }

func loadClient(ctx context.Context, tx *op.Tx, id string) (*ent.OAuthClient, error) {
	return op.Lock(tx, tx.OAuthClient.Query().Where(oauthclient.ID(id))).Only(ctx)
}

// CreateClientInput describes a new client.
type CreateClientInput struct {
	Name                   string   `json:"name" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	RedirectURIs           []string `json:"redirectUris" minItems:"1" maxItems:"20" uniqueItems:"true" doc:"Matched exactly: https; http on localhost, 127.0.0.1 or [::1], on any port; or the private-use scheme of a native application, with a dot (com.example.app:/callback). Pages of these origins may call the API with a bearer token."`
	Scopes                 []string `json:"scopes,omitempty" nullable:"true" maxItems:"20" uniqueItems:"true" doc:"What tokens may ask for; all scopes of the API when not given."`
	Confidential           *bool    `json:"confidential,omitempty" nullable:"true" doc:"The client can keep a secret."`
	PostLogoutRedirectURIs []string `json:"postLogoutRedirectUris,omitempty" nullable:"true" maxItems:"20" uniqueItems:"true" doc:"Where people may be sent after they have signed out, matched exactly; like redirectUris."`
	BackchannelLogoutURI   *string  `json:"backchannelLogoutUri,omitempty" nullable:"true" maxLength:"2000" doc:"An https address that is told when a sign-in ends (OpenID Connect Back-Channel Logout)."`
}

// CreatedClient is a client with its secret, which is shown only this once; public clients have none.
type CreatedClient struct {
	ID     string
	Client *ent.OAuthClient
	Secret string
}

// standardScopes are OpenID's own scopes, which have no meaning for the API.
var standardScopes = []string{"openid", "profile", "email", "offline_access"}

// StandardScope reports whether a scope is one of OpenID's own.
func StandardScope(scope string) bool { return slices.Contains(standardScopes, scope) }

// createClient registers a client. Returns validation_error for addresses that validRedirect refuses, and for unknown
// scopes.
func createClient(ctx context.Context, tx *op.Tx, in CreateClientInput) (CreatedClient, error) {
	if len(in.Scopes) == 0 {
		in.Scopes = principal.ScopeNames
	}
	if err := in.Check(); err != nil {
		return CreatedClient{}, err
	}
	c := tx.OAuthClient.Create().SetName(in.Name).SetRedirectUris(in.RedirectURIs).SetScopes(in.Scopes).
		SetConfidential(op.Or(in.Confidential, false)).SetPostLogoutRedirectUris(in.PostLogoutRedirectURIs).
		SetBackchannelLogoutURI(op.Or(in.BackchannelLogoutURI, "")).SetCreatedBy(tx.Principal().ID)
	out := CreatedClient{}
	if op.Or(in.Confidential, false) {
		out.Secret = rand.Text() + rand.Text()
		c.SetSecretHash(HashOf(out.Secret))
	}
	var err error
	if out.Client, err = c.Save(ctx); err != nil {
		return CreatedClient{}, fmt.Errorf("register the client: %w", err)
	}
	out.ID = out.Client.ID
	tx.AuthorityChanged()
	tx.Changed(nil, out.Client)
	return out, nil
}

// Check returns a validation error for faults that tags cannot express.
func (in CreateClientInput) Check() error {
	var refs op.Refs
	for i, uri := range in.RedirectURIs {
		if !validRedirect(uri) {
			refs.Fault(fmt.Sprintf("redirectUris[%d]", i), registrable)
		}
	}
	for i, uri := range in.PostLogoutRedirectURIs {
		if !validRedirect(uri) {
			refs.Fault(fmt.Sprintf("postLogoutRedirectUris[%d]", i), registrable)
		}
	}
	if uri := op.Or(in.BackchannelLogoutURI, ""); uri != "" && (!validRedirect(uri) || !strings.HasPrefix(uri, "https://")) {
		refs.Fault("backchannelLogoutUri", "must be an https address without user name, fragment or wildcard")
	}
	for i, s := range in.Scopes {
		if !StandardScope(s) && principal.ScopeOf(s) == 0 {
			refs.Fault(fmt.Sprintf("scopes[%d]", i), "is no known scope")
		}
	}
	return refs.Err()
}

// UpdateClientInput changes the fields that it names.
type UpdateClientInput struct {
	op.ByID
	Name         op.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"200" pattern:"\\S" patternDescription:"more than blanks"`
	RedirectURIs op.Patch[[]string] `json:"redirectUris,omitzero" minItems:"1" maxItems:"20" uniqueItems:"true" doc:"Replaces all of them; as at registration."`
	Scopes       op.Patch[[]string] `json:"scopes,omitzero" minItems:"1" maxItems:"20" uniqueItems:"true" doc:"Replaces all of them. With one that it did not have, its tokens end and people are asked anew."`
}

func (in UpdateClientInput) check() error {
	return CreateClientInput{RedirectURIs: op.Or(in.RedirectURIs.Value(), nil), Scopes: op.Or(in.Scopes.Value(), nil)}.Check()
}

// updateClient returns validation_error as createClient does. A client that may do more than before loses the grants that people gave
// it.
func updateClient(ctx context.Context, tx *op.Tx, before *ent.OAuthClient, in UpdateClientInput) (*ent.OAuthClient, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	u := before.Update()
	op.Set(in.Name, u.SetName)
	op.Set(in.RedirectURIs, u.SetRedirectUris)
	op.Set(in.Scopes, u.SetScopes)
	after, err := op.Save(ctx, tx, before, u)
	if err != nil {
		return nil, fmt.Errorf("change the client: %w", err)
	}
	tx.AuthorityChanged()
	if in.Scopes.IsSet() || in.RedirectURIs.IsSet() {
		if err := restart(ctx, tx, before.ID); err != nil {
			return nil, err
		}
	}
	for _, scope := range after.Scopes {
		if !slices.Contains(before.Scopes, scope) { // people have allowed less, and are asked again
			_, err := access.End(ctx, tx, access.Client(before.ID), access.ClientWidened)
			return after, err
		}
	}
	return after, nil
}

// restart ends the authorization requests of a client that are under way: what people were shown, and where they would be sent, is
// not so any more.
func restart(ctx context.Context, tx *op.Tx, clientID string) error {
	return tx.AsSystem(ctx, "authorization requests belong to no company", func(ctx context.Context) error {
		if _, err := tx.AuthRequest.Delete().Where(authrequest.ClientID(clientID)).Exec(ctx); err != nil {
			return fmt.Errorf("end the client's authorization requests: %w", err)
		}
		return nil
	})
}

// deleteClient deletes the client with the consents that people gave it, and ends all its tokens.
func deleteClient(ctx context.Context, tx *op.Tx, c *ent.OAuthClient, _ op.ByID) (struct{}, error) {
	if _, err := access.End(ctx, tx, access.Client(c.ID), access.ClientDeleted); err != nil {
		return struct{}{}, err
	}
	return op.Remove(ctx, tx, c, tx.OAuthClient.DeleteOne(c).Exec)
}

// GrantToken records that the operator issues an access token for a person. Tokens.Issue signs the token after this was
// recorded.
var GrantToken = op.OnRow("token.create", op.Spec{
	Resource: "User", Action: op.Update, Summary: "Issue an access token for a person",
}, loadUser, grantToken)

// TokenSubject is the user of a token: the person or, in the sandbox, the person's mirror.
type TokenSubject struct{ UserID, CompanyID string }

// GrantTokenInput names the person and the token's scopes.
type GrantTokenInput struct {
	op.ByID
	Scopes []string `json:"scopes" minItems:"1" maxItems:"20" uniqueItems:"true"`
	Test   bool     `json:"test,omitempty"`
}

func loadUser(ctx context.Context, tx *op.Tx, id string) (*ent.User, error) {
	return tx.User.Get(ctx, id)
}

func grantToken(ctx context.Context, tx *op.Tx, u *ent.User, in GrantTokenInput) (TokenSubject, error) {
	var refs op.Refs
	for i, s := range in.Scopes {
		if !StandardScope(s) && principal.ScopeOf(s) == 0 {
			refs.Fault(fmt.Sprintf("scopes[%d]", i), "is no known scope")
		}
	}
	if err := refs.Err(); err != nil {
		return TokenSubject{}, err
	}
	if access.Gone(u.Status) {
		return TokenSubject{}, apperr.New(apperr.Conflict, "The user is deactivated.")
	}
	tx.ChangedField("scopes", nil, in.Scopes)
	out := TokenSubject{UserID: u.ID, CompanyID: u.CompanyID}
	if !in.Test {
		return out, nil
	}
	tx.ChangedField("test", nil, true)
	err := tx.AsSystem(ctx, "the sandbox is another company", func(ctx context.Context) (err error) {
		if out.CompanyID, err = tx.Company.Query().Where(company.SandboxOf(u.CompanyID)).OnlyID(ctx); err != nil {
			return fmt.Errorf("find the sandbox: %w", err)
		}
		out.UserID, err = MirrorUser(ctx, tx.Client, out.CompanyID, u.ID)
		return err
	})
	return out, err
}
