package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atrium/ent/user"
	"atrium/internal/identity"
	"atrium/internal/identity/access"
	"atrium/internal/platform/principal"
)

// maxAge is how long the result of a bearer token's check is cached.
const maxAge = time.Minute

// maxToken is the longest valid bearer token, in bytes. Longer ones are refused, and not cached.
const maxToken = 8 << 10

// Bearer recognises an access token of the embedded provider or of the configured issuer. Returns ErrRefused for a token that
// is not valid, whose grant was revoked, or whose user is deactivated, erased or was signed out everywhere since it was issued.
// Returns unavailable for a token of the issuer while its keys cannot be fetched.
func (a *Authenticator) Bearer(ctx context.Context, token string) (*Credential, error) {
	now := a.store.Clock().Now()
	cred, err := a.bearerToken(ctx, token, now)
	if err != nil {
		return nil, err
	}
	if cred.due(now) {
		a.seen.notePerson(cred.userID, now)
	}
	return cred, nil
}

// bearerToken is Bearer without recording a use.
func (a *Authenticator) bearerToken(ctx context.Context, token string, now time.Time) (*Credential, error) {
	if len(token) > maxToken {
		return nil, fmt.Errorf("%w: too long", ErrRefused)
	}
	cred, err := a.cached(ctx, tokens, token, func(ctx context.Context) (*Credential, time.Time, error) {
		recognise := a.verify
		if a.others != nil && a.others.Issuer().Issued(token) {
			recognise = a.verifyOther
		}
		c, err := recognise(ctx, token)
		return c, time.Now().Add(maxAge), err
	})
	if err != nil {
		return nil, err
	}
	if !now.Before(cred.expires) {
		return nil, fmt.Errorf("%w: expired", ErrRefused)
	}
	return cred, nil
}

// This reads the user of a token, the live user if that one is a mirror in a sandbox, the token's grant and its client.
var bearerStatement = reading(`SELECT u.id, u.name, u.email, COALESCE(l.role, u.role), u.status, u.signed_out_at, u.last_seen_at, l.status, l.signed_out_at,
	g.user_id, g.client_id, g.authenticated_at, g.revoked_at, oc.scopes, ` + companyColumns + `
FROM users u
JOIN companies c ON c.id = u.company_id
LEFT JOIN users l ON l.id = u.live_user_id
LEFT JOIN grants g ON g.id = ? AND g.company_id = u.company_id
LEFT JOIN oauth_clients oc ON oc.id = ? AND oc.company_id = u.company_id
WHERE u.id = ? AND u.company_id = ?`)

// subject holds what the database says about a token's user, grant and client.
type subject struct {
	person
	tenancy
	lastSeen        *time.Time
	liveStatus      *user.Status // the live user's, for a mirror in a sandbox
	liveSignedOutAt *time.Time

	grantUser, grantClient *string
	proven, revoked        *time.Time
	clientScopes           []byte // empty if the client is not registered
}

// verify checks a token's signature before it reads the token's user, grant and client from the database: a token with a false
// signature costs no read.
func (a *Authenticator) verify(ctx context.Context, token string) (*Credential, error) {
	claims, err := a.tokens.Verify(ctx, token)
	if errors.Is(err, identity.ErrToken) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err != nil {
		return nil, fmt.Errorf("verify the token: %w", err)
	}
	s, err := a.readSubject(ctx, claims)
	if err != nil {
		return nil, err
	}
	return a.bearer(ctx, s, claims)
}

// readSubject reads the user, grant and client of the claims; nil when there is no such user.
func (a *Authenticator) readSubject(ctx context.Context, claims *identity.Claims) (*subject, error) {
	var s subject
	found, err := a.find(ctx, bearerStatement, []any{claims.Grant, claims.ClientID, claims.Subject, claims.Company}, append([]any{
		&s.id, &s.name, &s.email, &s.role, &s.status, &s.signedOutAt, &s.lastSeen, &s.liveStatus, &s.liveSignedOutAt,
		&s.grantUser, &s.grantClient, &s.proven, &s.revoked, &s.clientScopes,
	}, s.into()...)...)
	if err != nil || !found {
		return nil, err
	}
	return &s, nil
}

// bearer returns the credential of a token whose signature is valid.
func (a *Authenticator) bearer(ctx context.Context, s *subject, claims *identity.Claims) (*Credential, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: no such user", ErrRefused)
	}
	if err := s.stands(claims); err != nil {
		return nil, err
	}
	scopes, err := s.scopes(claims)
	if err != nil {
		return nil, err
	}
	c := s.credential(claims, scopes, claims.ExpiresAt.Time())
	if s.proven != nil {
		c.Principal.AuthenticatedAt = *s.proven
	}
	return c, a.place(ctx, c, &s.tenancy, false, nil)
}

// credential builds the credential of the subject's token.
func (s *subject) credential(claims *identity.Claims, scopes principal.Scopes, expires time.Time) *Credential {
	c := &Credential{RateKey: s.id + "/" + claims.ClientID, expires: expires, userID: s.id}
	c.Principal = principal.Principal{
		CompanyID: claims.Company, Type: principal.TypeUser, ID: s.id, Name: s.name, Email: s.email,
		Role: principal.Role(s.role), Scopes: scopes, Method: principal.MethodBearer, ClientID: claims.ClientID,
	}
	if s.lastSeen != nil {
		c.noted.Store(s.lastSeen.UnixMilli())
	}
	return c
}

// stands returns ErrRefused unless the token's user and its grant are still valid.
func (s *subject) stands(claims *identity.Claims) error {
	switch issued := claims.Issued(); {
	case access.Gone(s.status), s.liveStatus != nil && access.Gone(*s.liveStatus):
		return fmt.Errorf("%w: deactivated or erased", ErrRefused)
	case claims.Grant == "":
		if signedOut(s.signedOutAt, issued) || signedOut(s.liveSignedOutAt, issued) {
			return fmt.Errorf("%w: signed out everywhere", ErrRefused)
		}
	case s.grantUser == nil, *s.grantUser != s.id, *s.grantClient != claims.ClientID:
		return fmt.Errorf("%w: no such grant", ErrRefused)
	case s.revoked != nil:
		return fmt.Errorf("%w: revoked", ErrRefused)
	case signedOut(s.signedOutAt, *s.proven), signedOut(s.liveSignedOutAt, *s.proven):
		return fmt.Errorf("%w: signed out everywhere", ErrRefused)
	case len(s.clientScopes) == 0 && claims.ClientID != identity.WebClient:
		return fmt.Errorf("%w: its client was deleted", ErrRefused)
	}
	return nil
}

// signedOut reports whether the person signed out everywhere at or after t.
func signedOut(at *time.Time, t time.Time) bool { return at != nil && !t.After(*at) }

// scopes returns the API scopes of the token that its client is registered with. If the token names none, it returns all scopes
// of the client.
func (s *subject) scopes(claims *identity.Claims) (principal.Scopes, error) {
	set := apiScopes(claims.Scopes())
	if set == 0 && claims.ClientID == identity.OperatorClient {
		return principal.AllScopes, nil
	}
	if len(s.clientScopes) == 0 {
		return set, nil
	}
	var names []string
	if err := json.Unmarshal(s.clientScopes, &names); err != nil {
		return 0, fmt.Errorf("read the scopes of client %s: %w", claims.ClientID, err)
	}
	registered := apiScopes(names)
	if set == 0 {
		return registered, nil
	}
	return set & registered, nil
}

// apiScopes returns the names that are scopes of the API as a set; it ignores others (openid, profile).
func apiScopes(names []string) principal.Scopes {
	var set principal.Scopes
	for _, name := range names {
		set |= principal.ScopeOf(name)
	}
	return set
}
