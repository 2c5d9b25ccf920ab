package authn

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"
)

// A call that goes on for long, such as a stream, has its credential recognised again and again. That is no use of the
// credential: no last-used time is noted, and a session that nobody uses otherwise ends while such calls go on.

// APIKeyAgain is APIKey for a call that goes on.
func (a *Authenticator) APIKeyAgain(ctx context.Context, value string, ip netip.Addr) (*Credential, error) {
	return a.apiKey(ctx, value, ip, a.store.Clock().Now())
}

// BearerAgain is Bearer for a call that goes on.
func (a *Authenticator) BearerAgain(ctx context.Context, token string) (*Credential, error) {
	return a.bearerToken(ctx, token, a.store.Clock().Now())
}

// SessionAgain is Session for a call that goes on.
func (a *Authenticator) SessionAgain(ctx context.Context, value string) (*Credential, error) {
	return a.liveSession(ctx, value, a.store.Clock().Now(), (*liveSession).lasts)
}

// lasts tells whether the session is not over yet.
func (s *liveSession) lasts(now time.Time) bool { return now.UnixMilli() < s.until.Load() }

// liveSession recognises a cookie's value; still tells of what is remembered whether it is not over.
func (a *Authenticator) liveSession(ctx context.Context, value string, now time.Time, still func(*liveSession, time.Time) bool) (*Credential, error) {
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
		// As far as is remembered here it was unused for too long. Another node may have served it meanwhile.
		a.forget(sessions, name)
		if cred, err = a.cached(ctx, sessions, name, load); err == nil && !still(cred.session, now) {
			err = fmt.Errorf("%w: unused for too long", ErrRefused)
		}
	}
	return cred, err
}
