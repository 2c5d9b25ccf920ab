package authn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"atrium/internal/identity"
	"atrium/internal/identity/apikey"
	"atrium/internal/identity/issuer"
	"atrium/internal/platform/principal"
	"atrium/internal/platform/ratelimit"
	"atrium/internal/platform/store"
)

// ErrRefused is returned for every credential that is not valid, whatever the reason; the reason is only for
// logs.
var ErrRefused = errors.New("authn: the credential is not valid")

// Credential is a recognised caller. Requests share it, so it must not be changed.
type Credential struct {
	Principal principal.Principal // without the parts that belong to one request (IP, user agent, request id)
	RateKey   string              // calls with the same key count together
	Limit     ratelimit.Limit

	expires time.Time      // keys and tokens; zero for never
	allowed []netip.Prefix // empty for anywhere
	keyID   string         // API keys
	session *liveSession   // sessions
	userID  string         // bearer tokens
	noted   atomic.Int64   // sessions and tokens: the last use that was recorded, in Unix milliseconds
}

// Authenticator recognises callers. Safe for concurrent use.
type Authenticator struct {
	store  *store.Store
	tokens *identity.Tokens
	others *issuer.Directory // of the configured issuer; nil for none
	seen   *lastSeen
	known  [kinds]store.AuthorityCache[remembered]
}

// kind is the kind of a credential. Each kind has its own cache, so that none passes as another.
type kind int

const (
	keys     kind = iota // cached by the hash of the key
	tokens               // cached by the token itself
	sessions             // cached by the hash of the cookie's value
	kinds
)

// remembered is a cached answer.
type remembered struct {
	cred  *Credential
	until time.Time // zero: valid until authority changes
}

// Option configures an Authenticator in New.
type Option func(*Authenticator)

// WithIssuer makes the Authenticator accept access tokens of another issuer as well, for the users that the
// directory finds.
func WithIssuer(d *issuer.Directory) Option { return func(a *Authenticator) { a.others = d } }

// New returns an authenticator over the store. Run must be running for last-used times to be written.
func New(s *store.Store, tokens *identity.Tokens, options ...Option) *Authenticator {
	a := &Authenticator{store: s, tokens: tokens, seen: newLastSeen()}
	for _, o := range options {
		o(a)
	}
	return a
}

// APIKey recognises an API key that arrived from ip. Returns ErrRefused for a key that is malformed, unknown,
// revoked, expired or not allowed from there.
func (a *Authenticator) APIKey(ctx context.Context, value string, ip netip.Addr) (*Credential, error) {
	now := a.store.Clock().Now()
	cred, err := a.apiKey(ctx, value, ip, now)
	if err != nil {
		return nil, err
	}
	a.seen.note(cred.keyID, now)
	return cred, nil
}

// apiKey is APIKey without recording a use.
func (a *Authenticator) apiKey(ctx context.Context, value string, ip netip.Addr, now time.Time) (*Credential, error) {
	key, err := apikey.Parse(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	hash := key.Hash()
	cred, err := a.cached(ctx, keys, string(hash[:]), func(ctx context.Context) (*Credential, time.Time, error) {
		c, err := a.loadKey(ctx, hash[:])
		return c, time.Time{}, err
	})
	if err != nil {
		return nil, err
	}
	if !cred.expires.IsZero() && !now.Before(cred.expires) {
		return nil, fmt.Errorf("%w: expired", ErrRefused)
	}
	if !allowedFrom(cred.allowed, ip) {
		return nil, fmt.Errorf("%w: not from this address", ErrRefused)
	}
	return cred, nil
}

// due reports whether a use at now should be recorded. It returns true once a minute, to one caller.
func (c *Credential) due(now time.Time) bool {
	last := c.noted.Load()
	return now.UnixMilli()-last >= noteEvery.Milliseconds() && c.noted.CompareAndSwap(last, now.UnixMilli())
}

// cached returns the cached credential of a name, or loads and caches it. Refusals are not cached.
func (a *Authenticator) cached(ctx context.Context, of kind, name string, load func(context.Context) (*Credential, time.Time, error)) (*Credential, error) {
	good := func(r remembered) bool { return r.until.IsZero() || time.Now().Before(r.until) }
	r, err := a.known[of].GetWhile(a.store, name, good, func() (r remembered, err error) {
		r.cred, r.until, err = load(principal.System(ctx, "authentication happens before a company is known"))
		return r, err
	})
	return r.cred, err
}

var keyStatement = reading(`SELECT x.id, x.company_id, x.name, x.scopes, x.test, x.allowed_ips, x.expires_at, x.revoked_at,
	u.id, u.name, u.email, u.role, sa.id, sa.name, sa.role, sa.enabled, ag.id, ag.name,
	CASE WHEN x.test THEN ` + sandboxOf + ` END, CASE WHEN x.test THEN COALESCE(` + mirrorOf + `, ` + mirrorAccountOf + `) END, ` + companyColumns + `
FROM api_keys x
JOIN companies c ON c.id = x.company_id
LEFT JOIN users u ON u.id = x.user_id
LEFT JOIN service_accounts sa ON sa.id = x.service_account_id
LEFT JOIN agents ag ON ag.id = x.agent_id AND ag.company_id = x.company_id
WHERE x.hash = ?`)

// loadKey reads a key with the person or account that it acts as.
func (a *Authenticator) loadKey(ctx context.Context, hash []byte) (*Credential, error) {
	var (
		id, companyID, name             string
		scopeNames, ips                 []byte
		test                            bool
		expires, revoked                *time.Time
		userID, userName, email, role   *string
		accountID, accountName, accRole *string
		accEnabled                      *bool
		agentID, agentName              *string
		mirrorID                        *string
		t                               tenancy
	)
	found, err := a.find(ctx, keyStatement, []any{hash}, append([]any{
		&id, &companyID, &name, &scopeNames, &test, &ips, &expires, &revoked,
		&userID, &userName, &email, &role, &accountID, &accountName, &accRole, &accEnabled, &agentID, &agentName, &t.sandboxID, &mirrorID,
	}, t.into()...)...)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("%w: unknown", ErrRefused)
	case revoked != nil:
		return nil, fmt.Errorf("%w: revoked", ErrRefused)
	}
	c := &Credential{keyID: id, RateKey: id}
	c.Principal = principal.Principal{CompanyID: companyID, Method: principal.MethodAPIKey, KeyID: id, KeyName: name}
	if c.Principal.Scopes, c.allowed, err = readKey(scopeNames, ips); err != nil {
		return nil, fmt.Errorf("read key %s: %w", id, err)
	}
	if expires != nil {
		c.expires = *expires
	}
	switch {
	case userID != nil:
		c.Principal.Type, c.Principal.ID, c.Principal.Name = principal.TypeUser, *userID, *userName
		c.Principal.Email, c.Principal.Role = *email, principal.Role(*role)
	case accountID != nil && !*accEnabled:
		return nil, fmt.Errorf("%w: its service account is disabled", ErrRefused)
	case accountID != nil:
		c.Principal.Type, c.Principal.ID, c.Principal.Name = principal.TypeServiceAccount, *accountID, *accountName
		c.Principal.Role = principal.Role(*accRole)
	case agentID != nil: // gate.Agents looks up its role and its run for each call
		c.Principal.Type, c.Principal.ID, c.Principal.Name = principal.TypeAgent, *agentID, *agentName
	default:
		return nil, fmt.Errorf("%w: nobody is behind it", ErrRefused)
	}
	return c, a.place(ctx, c, &t, test, mirrorID)
}

// readKey decodes a key's JSON columns.
func readKey(scopes, ips []byte) (principal.Scopes, []netip.Prefix, error) {
	var names, addresses []string
	if err := json.Unmarshal(scopes, &names); err != nil {
		return 0, nil, fmt.Errorf("scopes: %w", err)
	}
	if len(ips) > 0 {
		if err := json.Unmarshal(ips, &addresses); err != nil {
			return 0, nil, fmt.Errorf("addresses: %w", err)
		}
	}
	set, err := principal.ParseScopes(names)
	if err != nil {
		return 0, nil, err
	}
	allowed, err := apikey.ParsePrefixes(addresses)
	return set, allowed, err
}

// allowedFrom reports whether ip lies in one of the prefixes; an empty list allows every address.
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
