package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"atrium/internal/identity/authn"
	"atrium/internal/platform/apperr"
	"atrium/internal/platform/principal"
)

// Again recognises the caller of a running call, such as a stream, that Guard has admitted. It counts neither another
// call nor a use of the credential. Returns the current principal, because the caller's role and scopes may have changed.
// Returns unauthorized when the credential is no longer valid, and other errors when this cannot be determined.
func (g *Gate) Again(ctx context.Context, w http.ResponseWriter, r *http.Request) (*principal.Principal, error) {
	cred, err := g.recogniseAgain(ctx, r)
	if errors.Is(err, authn.ErrRefused) {
		return nil, apperr.Unauthenticated(err)
	}
	if err != nil {
		return nil, fmt.Errorf("authenticate again: %w", err)
	}
	p := cred.Principal
	p.IP, p.UserAgent, p.RequestID = RemoteIP(r), r.UserAgent(), RequestID(w)
	return g.acting(ctx, &p, r)
}

// recogniseAgain reads the credential that Guard has found.
func (g *Gate) recogniseAgain(ctx context.Context, r *http.Request) (*authn.Credential, error) {
	if keys := r.Header["X-Api-Key"]; len(keys) == 1 {
		return g.Authn.APIKeyAgain(ctx, keys[0], RemoteIP(r))
	}
	if auth := r.Header["Authorization"]; len(auth) == 1 {
		_, token, _ := strings.Cut(auth[0], " ")
		return g.Authn.BearerAgain(ctx, strings.TrimSpace(token))
	}
	for _, c := range r.CookiesNamed(authn.SessionCookie) {
		return g.Authn.SessionAgain(ctx, c.Value)
	}
	return nil, authn.ErrRefused
}
