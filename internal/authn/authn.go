package authn

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"atrium/ent"
	"atrium/ent/apikey"
	"atrium/ent/company"
	"atrium/ent/oauthclient"
	"atrium/ent/user"
	keyformat "atrium/internal/apikey"
	"atrium/internal/identity"
	"atrium/internal/principal"
	"atrium/internal/ratelimit"
	"atrium/internal/store"
)

// ErrRefused is returned for every credential that does not pass, whatever the reason; the reason is for logs.
var ErrRefused = errors.New("authn: the credential is not valid")

// maxCached bounds the credentials that are remembered; past it all are forgotten.
const maxCached = 20_000

// maxAge bounds how long a bearer token's check is remembered.
const maxAge = time.Minute

// Credential is a caller that was recognised. It is shared between requests and must not be changed.
type Credential struct {
	Principal principal.Principal // without what belongs to one request (IP, user agent, request id)
	RateKey   string              // whose calls count together
	Limit     ratelimit.Limit

	expires time.Time      // zero for never
	allowed []netip.Prefix // empty for anywhere
	keyID   string         // API keys
}

// Authenticator recognises callers. Safe for concurrent use.
type Authenticator struct {
	store  *store.Store
	tokens *identity.Tokens
	seen   *sightings

	mu      sync.RWMutex
	version uint64
	known   map[string]remembered
}

// remembered is a cached answer.
type remembered struct {
	cred  *Credential
	until time.Time // zero for as long as authority stands
}

// New returns an authenticator over the store. Run must be running for last-used times to be written.
func New(s *store.Store, tokens *identity.Tokens) *Authenticator {
	return &Authenticator{store: s, tokens: tokens, seen: newSightings(), known: map[string]remembered{}}
}

// APIKey recognises the value of an API key that arrived from ip. Returns ErrRefused for one that is malformed,
// unknown, revoked, expired or not allowed from there.
func (a *Authenticator) APIKey(ctx context.Context, value string, ip netip.Addr) (*Credential, error) {
	key, err := keyformat.Parse(value)
	if err != nil {
		return nil, fmt.Errorf("%w: malformed", ErrRefused)
	}
	hash := key.Hash()
	cred, err := a.cached(ctx, "key:"+string(hash[:]), func(ctx context.Context) (*Credential, time.Time, error) {
		c, err := a.loadKey(ctx, hash[:])
		return c, time.Time{}, err
	})
	if err != nil {
		return nil, err
	}
	now := a.store.Clock().Now()
	if !cred.expires.IsZero() && !now.Before(cred.expires) {
		return nil, fmt.Errorf("%w: expired", ErrRefused)
	}
	if !allowedFrom(cred.allowed, ip) {
		return nil, fmt.Errorf("%w: not from this address", ErrRefused)
	}
	a.seen.note(cred.keyID, now)
	return cred, nil
}

// Bearer recognises an access token. Returns ErrRefused for one that is not valid or whose user is deactivated.
func (a *Authenticator) Bearer(ctx context.Context, token string) (*Credential, error) {
	cred, err := a.cached(ctx, "tok:"+token, func(ctx context.Context) (*Credential, time.Time, error) {
		claims, err := a.tokens.Verify(ctx, token)
		if err != nil {
			return nil, time.Time{}, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		c, err := a.loadBearer(ctx, claims)
		return c, time.Now().Add(maxAge), err
	})
	if err != nil {
		return nil, err
	}
	if !a.store.Clock().Now().Before(cred.expires) {
		return nil, fmt.Errorf("%w: expired", ErrRefused)
	}
	return cred, nil
}

// cached returns what is remembered under name, or loads and remembers it. Nothing is remembered while changes of
// authority are not being heard, and refusals never are.
func (a *Authenticator) cached(ctx context.Context, name string, load func(context.Context) (*Credential, time.Time, error)) (*Credential, error) {
	version, heard := a.store.Authority()
	if heard {
		a.mu.RLock()
		hit, ok := a.known[name]
		ok = ok && a.version == version
		a.mu.RUnlock()
		if ok && (hit.until.IsZero() || time.Now().Before(hit.until)) {
			return hit.cred, nil
		}
	}
	cred, until, err := load(principal.System(ctx, "authentication happens before a company is known"))
	if err != nil {
		return nil, err
	}
	if heard {
		a.mu.Lock()
		if a.version != version || len(a.known) >= maxCached {
			clear(a.known)
			a.version = version
		}
		a.known[name] = remembered{cred, until}
		a.mu.Unlock()
	}
	return cred, nil
}

// loadKey reads a key with the person or account behind it.
func (a *Authenticator) loadKey(ctx context.Context, hash []byte) (*Credential, error) {
	row, err := a.store.Reader().APIKey.Query().Where(apikey.Hash(hash)).WithUser().WithServiceAccount().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fmt.Errorf("%w: unknown", ErrRefused)
	}
	if err != nil {
		return nil, fmt.Errorf("look the key up: %w", err)
	}
	if row.RevokedAt != nil {
		return nil, fmt.Errorf("%w: revoked", ErrRefused)
	}
	scopes, err := principal.ParseScopes(row.Scopes)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", row.ID, err)
	}
	allowed, err := ParsePrefixes(row.AllowedIps)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", row.ID, err)
	}
	c := &Credential{keyID: row.ID, RateKey: row.ID, allowed: allowed}
	if row.ExpiresAt != nil {
		c.expires = *row.ExpiresAt
	}
	c.Principal = principal.Principal{
		CompanyID: row.CompanyID, Scopes: scopes, Method: principal.MethodAPIKey, KeyID: row.ID, KeyName: row.Name,
	}
	switch u, sa := row.Edges.User, row.Edges.ServiceAccount; {
	case u != nil:
		c.Principal.Type, c.Principal.ID, c.Principal.Name = principal.TypeUser, u.ID, u.Name
		c.Principal.Email, c.Principal.Role = u.Email, principal.Role(u.Role)
	case sa != nil:
		c.Principal.Type, c.Principal.ID, c.Principal.Name = principal.TypeServiceAccount, sa.ID, sa.Name
		c.Principal.Role = principal.Role(sa.Role)
	default:
		return nil, fmt.Errorf("%w: nobody is behind it", ErrRefused)
	}
	return c, a.place(ctx, c, row.Test)
}

// loadBearer reads the user that a token speaks for.
func (a *Authenticator) loadBearer(ctx context.Context, claims *identity.Claims) (*Credential, error) {
	u, err := a.store.Reader().User.Query().Where(user.ID(claims.Subject), user.CompanyID(claims.Company)).Only(ctx)
	if ent.IsNotFound(err) {
		return nil, fmt.Errorf("%w: no such user", ErrRefused)
	}
	if err != nil {
		return nil, fmt.Errorf("look the user up: %w", err)
	}
	if u.Status == user.StatusDeactivated {
		return nil, fmt.Errorf("%w: deactivated", ErrRefused)
	}
	var scopes principal.Scopes
	for _, name := range claims.Scopes() {
		scopes |= principal.MustScope(name) // others (openid, profile) say nothing about the API
	}
	if scopes == 0 {
		if scopes, err = a.clientScopes(ctx, claims); err != nil {
			return nil, err
		}
	}
	c := &Credential{RateKey: u.ID + "/" + claims.ClientID, expires: claims.ExpiresAt.Time()}
	c.Principal = principal.Principal{
		CompanyID: u.CompanyID, Type: principal.TypeUser, ID: u.ID, Name: u.Name, Email: u.Email,
		Role: principal.Role(u.Role), Scopes: scopes, Method: principal.MethodBearer, ClientID: claims.ClientID,
	}
	return c, a.place(ctx, c, false)
}

// clientScopes are those of a token that names no scope of the API: what its client was registered with.
func (a *Authenticator) clientScopes(ctx context.Context, claims *identity.Claims) (principal.Scopes, error) {
	if claims.ClientID == identity.OperatorClient {
		return principal.AllScopes, nil
	}
	client, err := a.store.Reader().OAuthClient.Query().
		Where(oauthclient.ID(claims.ClientID), oauthclient.CompanyID(claims.Company)).Only(ctx)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look the client up: %w", err)
	}
	var scopes principal.Scopes
	for _, name := range client.Scopes {
		scopes |= principal.MustScope(name)
	}
	return scopes, nil
}

// place puts the credential into its company or, for a test key, the sandbox of it, and sets its limits.
func (a *Authenticator) place(ctx context.Context, c *Credential, test bool) error {
	db := a.store.Reader()
	if test {
		sandbox, err := db.Company.Query().Where(company.SandboxOf(c.Principal.CompanyID)).Only(ctx)
		if err != nil {
			return fmt.Errorf("find the sandbox: %w", err)
		}
		c.Principal.CompanyID, c.Principal.Sandbox = sandbox.ID, true
		c.Limit = ratelimit.Free()
		return a.mirror(ctx, c)
	}
	co, err := db.Company.Query().Where(company.ID(c.Principal.CompanyID)).Only(ctx)
	if err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	c.Principal.Sandbox = co.SandboxOf != nil
	limit, ok := ratelimit.ForPlan(string(co.Plan))
	if !ok {
		return fmt.Errorf("no limits for plan %s", co.Plan)
	}
	if co.RatePerMinute != nil {
		limit.PerMinute = *co.RatePerMinute
	}
	if co.RatePerDay != nil {
		limit.PerDay = *co.RatePerDay
	}
	c.Limit = limit
	return nil
}

// mirror makes the person behind a test key a member of the sandbox, so that what the key makes there has a creator
// who can be found there. The role that counts stays the live one.
func (a *Authenticator) mirror(ctx context.Context, c *Credential) error {
	if c.Principal.Type != principal.TypeUser {
		return nil
	}
	liveID := c.Principal.ID
	find := func(ctx context.Context, db *ent.Client) (*ent.User, error) {
		return db.User.Query().Where(user.CompanyID(c.Principal.CompanyID), user.LiveUserID(liveID)).Only(ctx)
	}
	m, err := find(ctx, a.store.Reader())
	if ent.IsNotFound(err) {
		err = a.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
			if m, err = find(ctx, tx.Client); err == nil || !ent.IsNotFound(err) {
				return err
			}
			live, err := tx.User.Get(ctx, liveID)
			if err != nil {
				return fmt.Errorf("read the live user: %w", err)
			}
			m, err = tx.User.Create().SetCompanyID(c.Principal.CompanyID).SetAccountID(live.AccountID).SetLiveUserID(live.ID).
				SetEmail(live.Email).SetName(live.Name).SetRole(live.Role).Save(ctx)
			return err //nolint:wrapcheck // wrapped below
		})
		if v, ok := errors.AsType[*store.Violation](err); ok && v.Kind == store.Unique {
			m, err = find(ctx, a.store.Reader()) // another call made it
		}
	}
	if err != nil {
		return fmt.Errorf("find the person in the sandbox: %w", err)
	}
	c.Principal.ID = m.ID
	return nil
}

// ParsePrefixes reads addresses and CIDR prefixes. The error names the first that is neither.
func ParsePrefixes(list []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, s := range list {
		if p, err := netip.ParsePrefix(s); err == nil {
			out = append(out, p.Masked())
			continue
		}
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("%q is no address and no CIDR prefix", s)
		}
		out = append(out, netip.PrefixFrom(ip.Unmap(), ip.Unmap().BitLen()))
	}
	return out, nil
}

// allowedFrom tells whether ip lies in one of the prefixes; an empty list allows every address.
func allowedFrom(prefixes []netip.Prefix, ip netip.Addr) bool {
	if len(prefixes) == 0 {
		return true
	}
	ip = ip.Unmap()
	for _, p := range prefixes {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
