package authn

import (
	"context"
	"net/netip"
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
	return a.recogniseSession(ctx, value, a.store.Clock().Now(), (*liveSession).lasts)
}
