package authn

import (
	"context"
	"net/netip"
)

// A long call, such as a stream, has its credential checked again and again. This does not count as a use of the
// credential: it records no last-used time, and a session without other uses expires while such calls continue.

// APIKeyAgain is APIKey for a call that continues.
func (a *Authenticator) APIKeyAgain(ctx context.Context, value string, ip netip.Addr) (*Credential, error) {
	return a.apiKey(ctx, value, ip, a.store.Clock().Now())
}

// BearerAgain is Bearer for a call that continues.
func (a *Authenticator) BearerAgain(ctx context.Context, token string) (*Credential, error) {
	return a.bearerToken(ctx, token, a.store.Clock().Now())
}

// SessionAgain is Session for a call that continues.
func (a *Authenticator) SessionAgain(ctx context.Context, value string) (*Credential, error) {
	return a.recogniseSession(ctx, value, a.store.Clock().Now(), (*liveSession).lasts)
}
