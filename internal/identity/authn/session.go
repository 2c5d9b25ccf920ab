package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"atrium/internal/identity/access"
	"atrium/internal/platform/principal"
)

// SessionCookie is the name of the web session's cookie: the prefix limits it to HTTPS, this host and the path /.
const SessionCookie = "__Host-atrium_session"

// SessionValueLen is the length of the cookie's value: 32 random bytes in base64url without padding.
const SessionValueLen = 43

// Limits of a session, whatever the company sets.
const (
	MaxSessionIdle = 48 * time.Hour      // unused
	MaxSessionAge  = 30 * 24 * time.Hour // since the person signed in
)

// SessionIdle is how long a session of a company with the lifetime in minutes stays valid unused.
func SessionIdle(lifetimeMinutes int) time.Duration {
	return min(time.Duration(lifetimeMinutes)*time.Minute, MaxSessionIdle)
}

// SessionExpiry returns when a session that started at began and is used now ends.
func SessionExpiry(began, now time.Time, idle time.Duration) time.Time {
	if end := began.Add(MaxSessionAge); end.Before(now.Add(idle)) {
		return end
	}
	return now.Add(idle)
}

// Session recognises the value of the web session's cookie. Returns ErrRefused for a session that is malformed, unknown,
// ended or expired, or whose user is deactivated or was signed out everywhere since. Each use extends the session; the
// new expiry is written in batches, together with ip, the address of the last use.
func (a *Authenticator) Session(ctx context.Context, value string, ip netip.Addr) (*Credential, error) {
	now := a.store.Clock().Now()
	cred, err := a.recogniseSession(ctx, value, now, (*liveSession).use)
	if err != nil {
		return nil, err
	}
	if cred.due(now) {
		a.seen.noteSession(cred.session, now, ip)
	}
	return cred, nil
}

// recogniseSession recognises a cookie's value; still reports whether a cached session has not expired.
func (a *Authenticator) recogniseSession(ctx context.Context, value string, now time.Time, still func(*liveSession, time.Time) bool) (*Credential, error) {
	if len(value) != SessionValueLen {
		return nil, fmt.Errorf("%w: malformed", ErrRefused)
	}
	hash := sha256.Sum256([]byte(value))
	name := string(hash[:])
	load := func(ctx context.Context) (*Credential, time.Time, error) {
		c, err := a.loadSession(ctx, hash[:])
		return c, time.Time{}, err
	}
	cred, err := a.cached(ctx, sessions, name, load)
	if err == nil && !still(cred.session, now) {
		// The cached session was unused for too long, but another node may have served it meanwhile.
		a.known[sessions].Forget(name)
		if cred, err = a.cached(ctx, sessions, name, load); err == nil && !still(cred.session, now) {
			err = fmt.Errorf("%w: unused for too long", ErrRefused)
		}
	}
	return cred, err
}

// liveSession is the part of a cached session that changes with its use.
type liveSession struct {
	id     string
	userID string // the live user
	began  time.Time
	idle   time.Duration
	until  atomic.Int64 // when it expires, in Unix milliseconds
}

// use extends the session; false when it has expired.
func (s *liveSession) use(now time.Time) bool {
	if now.UnixMilli() >= s.until.Load() {
		return false
	}
	s.until.Store(SessionExpiry(s.began, now, s.idle).UnixMilli())
	return true
}

// lasts reports whether the session has not expired.
func (s *liveSession) lasts(now time.Time) bool { return now.UnixMilli() < s.until.Load() }

var sessionStatement = reading(`SELECT x.id, x.company_id, x.created_at, x.last_seen_at, x.expires_at, x.ended_at, x.sandbox, x.authenticated_at,
	u.id, u.name, u.email, u.role, u.status, u.signed_out_at, c.session_lifetime_minutes,
	CASE WHEN x.sandbox THEN ` + sandboxOf + ` END, CASE WHEN x.sandbox THEN ` + mirrorOf + ` END, ` + companyColumns + `
FROM sessions x
JOIN users u ON u.id = x.user_id
JOIN companies c ON c.id = x.company_id
WHERE x.token_hash = ?`)

// loadSession reads a session with its person.
func (a *Authenticator) loadSession(ctx context.Context, hash []byte) (*Credential, error) {
	var (
		s                         liveSession
		p                         person
		t                         tenancy
		companyID                 string
		lastSeen, expires, proven time.Time
		ended                     *time.Time
		sandbox                   bool
		lifetime                  int
		mirrorID                  *string
	)
	found, err := a.find(ctx, sessionStatement, []any{hash}, append([]any{
		&s.id, &companyID, &s.began, &lastSeen, &expires, &ended, &sandbox, &proven,
		&p.id, &p.name, &p.email, &p.role, &p.status, &p.signedOutAt, &lifetime, &t.sandboxID, &mirrorID,
	}, t.into()...)...)
	if err != nil {
		return nil, err
	}
	s.idle = SessionIdle(lifetime)
	if lowered := SessionExpiry(s.began, lastSeen, s.idle); lowered.Before(expires) {
		expires = lowered // the company has shortened its sessions since the last use
	}
	switch now := a.store.Clock().Now(); {
	case !found:
		return nil, fmt.Errorf("%w: unknown", ErrRefused)
	case ended != nil:
		return nil, fmt.Errorf("%w: ended", ErrRefused)
	case !now.Before(expires):
		return nil, fmt.Errorf("%w: over", ErrRefused)
	case access.Gone(p.status):
		return nil, fmt.Errorf("%w: deactivated or erased", ErrRefused)
	case p.signedOutAt != nil && !s.began.After(*p.signedOutAt):
		return nil, fmt.Errorf("%w: signed out everywhere", ErrRefused)
	}
	s.userID = p.id
	s.until.Store(expires.UnixMilli())
	c := &Credential{session: &s}
	c.noted.Store(lastSeen.UnixMilli())
	c.Principal = principal.Principal{
		CompanyID: companyID, Type: principal.TypeUser, ID: p.id, Name: p.name, Email: p.email, Role: principal.Role(p.role),
		Scopes: principal.AllScopes, Method: principal.MethodSession, SessionID: s.id, AuthenticatedAt: proven,
	}
	err = a.place(ctx, c, &t, sandbox, mirrorID)
	c.RateKey, c.Limit = c.Principal.ID+"/web", c.Limit.InBrowser() // live company and sandbox count separately
	return c, err
}
