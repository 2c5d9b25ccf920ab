package provider

import (
	"context"
	"errors"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"atrium/internal/identity"
)

// errHint means that a text is not an ID token that this provider issued to the client.
var errHint = errors.New("provider: the id_token_hint is not valid")

// hint holds the claims of an ID token that was sent as an id_token_hint.
type hint struct {
	Subject  string `json:"sub"`
	SignInID string `json:"sid"`
	ClientID string `json:"azp"`
	TokenUse string `json:"token_use"`
}

// readHint returns the claims of an ID token that this provider issued to the client. An expired ID token is accepted. With an
// empty clientID, the token of any client is accepted. Returns errHint for any other text, including access tokens and logout
// tokens.
func (p *Provider) readHint(ctx context.Context, token, clientID string) (*hint, error) {
	verifier := oidc.NewVerifier(p.issuer, p.keys.Set(), &oidc.Config{
		ClientID: clientID, SkipClientIDCheck: clientID == "", SkipExpiryCheck: true, SupportedSigningAlgs: []string{oidc.ES256},
		Now: func() time.Time { return p.now() },
	})
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return nil, errors.Join(errHint, err)
	}
	var h hint
	if err := verified.Claims(&h); err != nil {
		return nil, errors.Join(errHint, err)
	}
	if h.TokenUse != identity.IDTokenUse || h.Subject == "" || len(verified.Audience) != 1 || verified.Audience[0] != h.ClientID {
		return nil, errHint
	}
	return &h, nil
}

// hintedUser returns the id of the user named by the id_token_hint of an authorization request; empty without a hint.
func (p *Provider) hintedUser(ctx context.Context, c *client, token string) (userID string, err error) {
	if token == "" {
		return "", nil
	}
	h, err := p.readHint(ctx, token, c.id)
	if err != nil {
		return "", invalidRequest("id_token_hint is not valid")
	}
	return h.Subject, nil
}
