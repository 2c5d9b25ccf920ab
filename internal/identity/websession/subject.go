package websession

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"atrium/ent"
	"atrium/ent/user"
	"atrium/internal/gate"
	"atrium/internal/identity"
	"atrium/internal/identity/issuer"
	"atrium/internal/op"
	"atrium/internal/platform/principal"
)

// embeddedSubject returns the person that the embedded provider has signed in. The access token that came with the ID token names the
// grant. The row of the grant has the rest, more precisely than tokens.
func (e *Embedded) embeddedSubject(ctx context.Context, id *oidc.IDToken, accessToken string) (createInput, error) {
	claims, err := e.Tokens.Verify(ctx, accessToken)
	if errors.Is(err, identity.ErrToken) {
		return createInput{}, fmt.Errorf("%w: %w", issuer.ErrToken, err)
	}
	if err != nil {
		return createInput{}, fmt.Errorf("verify the access token: %w", err)
	}
	if claims.Subject != id.Subject || claims.ClientID != identity.WebClient || claims.Grant == "" {
		return createInput{}, fmt.Errorf("%w: its access token is another's", issuer.ErrToken)
	}
	return createInput{CompanyID: claims.Company, UserID: claims.Subject, GrantID: claims.Grant}, nil
}

// issuerSubject returns the person that the configured issuer has signed in.
func (s *Server) issuerSubject(ctx context.Context, id *oidc.IDToken, accessToken string, f flow) (createInput, error) {
	said, err := s.people.Issuer().SignedIn(id, accessToken)
	if err != nil {
		return createInput{}, err
	}
	u, err := s.people.Find(ctx, said, f.Company)
	if err != nil {
		return createInput{}, err
	}
	proven := said.AuthenticatedAt
	if proven.IsZero() {
		proven = said.IssuedAt // without auth_time, the issuer vouches for the time of the token
	}
	if now := s.now(); proven.After(now) {
		proven = now // the issuer's clock is ahead
	}
	return createInput{CompanyID: u.CompanyID, UserID: u.ID, Methods: said.Methods, AuthenticatedAt: proven.Truncate(time.Millisecond)}, nil
}

// begin creates the session; the person is the actor.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, in createInput) (*ent.Session, error) {
	sys := principal.System(r.Context(), "a person who signs in is nobody yet")
	u, err := s.engine.Store.Reader().User.Query().Where(user.ID(in.UserID), user.CompanyID(in.CompanyID)).Only(sys)
	if err != nil {
		return nil, fmt.Errorf("read the user: %w", err)
	}
	out, _, err := op.Run(as(w, r, u, principal.Principal{}), s.engine, create, in, nil)
	return out, err
}

// as returns a context in which the person is the caller, by a session of the live company. more holds what is known about the
// session.
func as(w http.ResponseWriter, r *http.Request, u *ent.User, more principal.Principal) context.Context {
	p := more
	p.CompanyID, p.Type, p.ID, p.Name, p.Email = u.CompanyID, principal.TypeUser, u.ID, u.Name, u.Email
	p.Role, p.Scopes, p.Method = principal.Role(u.Role), principal.AllScopes, principal.MethodSession
	p.IP, p.UserAgent, p.RequestID = gate.RemoteIP(r), r.UserAgent(), gate.RequestID(w)
	return principal.With(r.Context(), &p)
}
